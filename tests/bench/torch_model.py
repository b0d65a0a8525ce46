"""The course's model and its like in PyTorch: what `torch_step.py` times and `torch_train.py` trains.

Weights have PyTorch's own first values; names are those of our models.
"""
import torch
import torch.nn.functional as F
from torch import nn


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.output_proj = (linear(width, width) for _ in range(4))

    def forward(self, x, cos, sin):
        def split(y):
            return y.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

        def rotate(y):  # pairs that stand side by side
            a, b = y[..., 0::2], y[..., 1::2]
            return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)

        q, k, v = rotate(split(self.q_proj(x))), rotate(split(self.k_proj(x))), split(self.v_proj(x))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output_proj(mixed.transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, width, hidden, gated):
        super().__init__()
        self.w1, self.w2 = linear(width, hidden), linear(hidden, width)
        self.w3 = linear(width, hidden) if gated else None

    def forward(self, x):
        y = self.w1(x)
        return self.w2(F.gelu(y, approximate="tanh") if self.w3 is None else F.silu(y) * self.w3(x))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, gated):
        super().__init__()
        self.ln1, self.ln2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.attn, self.ffn = Attention(width, heads), FeedForward(width, hidden, gated)

    def forward(self, x, cos, sin):
        x = x + self.attn(self.ln1(x), cos, sin)
        return x + self.ffn(self.ln2(x))


class Model(nn.Module):
    def __init__(self, vocab, width, layers, heads, hidden, length, tied=False, gated=True):
        super().__init__()
        self.token_embeddings = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Block(width, heads, hidden, gated) for _ in range(layers))
        self.ln_final = nn.RMSNorm(width, eps=1e-5)
        self.lm_head = linear(width, vocab)
        if tied:
            self.lm_head.weight = self.token_embeddings.weight
        depth = width // heads
        angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, depth, 2) / depth))
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens, targets):
        x = self.token_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return F.cross_entropy(self.lm_head(self.ln_final(x)).flatten(0, 1), targets.flatten())
