"""The models of the table `step` in PyTorch, as a worker of the bench: the same shapes, loss, clipping and AdamW.

torch_step.py eager|compiled f32|bf16 THREADS '{"vocab": 256, "width": 256, "layers": 4, "heads": 8, "hidden": 704, "batch": 16, "length": 128, "tied": false}'

Turns as in worker.h; `check:FILE` reads parameters and a batch (program.cpp's `save`) and answers with the loss.
"""
import json
import mmap
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

mode, dtype, threads, sizes = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
torch.set_num_threads(threads)
torch.manual_seed(1)


def resident(field="VmRSS"):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


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
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = linear(width, hidden), linear(hidden, width), linear(width, hidden)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.ln1, self.ln2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.attn, self.ffn = Attention(width, heads), FeedForward(width, hidden)

    def forward(self, x, cos, sin):
        x = x + self.attn(self.ln1(x), cos, sin)
        return x + self.ffn(self.ln2(x))


class Model(nn.Module):
    def __init__(self, vocab, width, layers, heads, hidden, batch, length, tied):
        super().__init__()
        self.token_embeddings = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
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


before = resident()
model = Model(**sizes)
parameters = list(model.parameters())  # a tie is listed once
optimizer = torch.optim.AdamW(parameters, lr=1e-6, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
loss_of = torch.compile(model) if mode == "compiled" else model
shape = (sizes["batch"], sizes["length"])
tokens, targets = torch.randint(sizes["vocab"], shape), torch.randint(sizes["vocab"], shape)


def precision():
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == "bf16")


def step():
    with precision():
        loss = loss_of(tokens, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def check(saved):
    with open(saved["file"], "rb") as file, torch.no_grad():
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        named = dict(model.named_parameters())
        for name, shape_, offset in saved["parameters"]:
            parameter = named.pop(name)
            assert list(parameter.shape) == shape_, name
            values = torch.frombuffer(bytearray(data[offset:offset + 4 * parameter.numel()]), dtype=torch.float32)
            parameter.copy_(values.view(shape_))
        assert not named, f"not set: {list(named)}"
        batch = (torch.tensor(saved[name]).view(shape) for name in ("tokens", "targets"))
        with precision():
            return loss_of(*batch).item()


for line in sys.stdin:
    name, _, seconds = line.split()
    if name.startswith("check:"):
        with open(name[len("check:"):]) as file:
            answer = {"loss": check(json.load(file))}
    else:
        best, end = float("inf"), time.perf_counter() + float(seconds)
        while True:
            start = time.perf_counter()
            step()
            now = time.perf_counter()
            best = min(best, now - start)
            if now >= end:
                break
        answer = {"seconds": best, "parameters": sum(p.numel() for p in parameters), "before": before,
                  "kernel": f"PyTorch {torch.__version__} {mode} {dtype}"}
    time.sleep(0.01)  # the threads fall asleep: see worker.h
    print(json.dumps(answer), flush=True)
