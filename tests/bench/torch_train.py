"""The course's run in PyTorch, for comparison with `./dev train` and `./dev ablate`: 600 steps of 16 x 128 bytes of a text.

build/bench_venv/bin/python3 tests/bench/torch_train.py swiglu|gelu HIDDEN FILE [--seed S] [--threads N]
"""
import argparse
import math

import torch
from torch import nn

from torch_model import Model

parser = argparse.ArgumentParser(description="trains the course's model in PyTorch and prints the mean of the last 50 losses")
parser.add_argument("kind", choices=("swiglu", "gelu"))
parser.add_argument("hidden", type=int, help="width of the feed-forward layer")
parser.add_argument("file", help="a text; the first nine tenths are trained on")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--threads", type=int, default=2)
options = parser.parse_args()
torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)

STEPS, WARMUP, BATCH, LENGTH = 600, 100, 16, 128
with open(options.file, "rb") as file:
    text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).long()
text = text[:len(text) * 9 // 10]
model = Model(vocab=256, width=256, layers=4, heads=8, hidden=options.hidden, length=LENGTH, gated=options.kind == "swiglu")
for parameter in model.parameters():
    if parameter.ndim == 2:
        embeds = parameter is model.token_embeddings.weight
        std = 1 if embeds else math.sqrt(2 / sum(parameter.shape))
        nn.init.trunc_normal_(parameter, std=std, a=-3 * std, b=3 * std)
matrices = [p for p in model.parameters() if p.ndim == 2]
gains = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": gains, "weight_decay": 0}], betas=(0.9, 0.95), eps=1e-8)
losses = []
for step in range(1, STEPS + 1):
    rate = 1e-3 * step / WARMUP if step <= WARMUP else 1e-4 + 4.5e-4 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP)))
    for group in optimizer.param_groups:
        group["lr"] = rate
    at = torch.randint(len(text) - LENGTH, (BATCH, 1)) + torch.arange(LENGTH)
    loss = model(text[at], text[at + 1])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
print(f"{options.kind} {options.hidden}, seed {options.seed}: mean of the last 50 losses {sum(losses[-50:]) / 50:.3f}")
