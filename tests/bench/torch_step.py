"""The models of the table `step` in PyTorch, as a worker of the bench: the same shapes, loss, clipping and AdamW.

torch_step.py eager|compiled f32|bf16 THREADS '{"vocab": 256, "width": 256, "layers": 4, "heads": 8, "hidden": 704, "batch": 16, "length": 128, "tied": false}'

Turns as in worker.h; `check:FILE` reads parameters and a batch (program.cpp's `save`) and answers with the loss.
"""
import json
import mmap
import sys
import time

import torch

from torch_model import Model

mode, dtype, threads, sizes = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
torch.set_num_threads(threads)
torch.manual_seed(1)


def resident(field="VmRSS"):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


before = resident()
batch = sizes.pop("batch")
model = Model(**sizes)
parameters = list(model.parameters())  # a tie is listed once
optimizer = torch.optim.AdamW(parameters, lr=1e-6, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
loss_of = torch.compile(model) if mode == "compiled" else model
shape = (batch, sizes["length"])
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
