"""PyTorch's time for the cases of `bench_gpu time`, on a GPU: products by cuBLAS, attention by its fused kernel.

torch_gpu.py SECONDS f32|bf16 CASE...; one JSON object a line: {"time": CASE, "seconds": of one run, "kernel": what it is}.
"""
import json
import sys

import torch
import torch.nn.functional as F

seconds, dtype, cases = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
kind = torch.bfloat16 if dtype == "bf16" else torch.float32
torch.backends.cuda.matmul.allow_tf32 = False  # exact f32, as ours


def timed(run):
    """Seconds of one run, back to back."""
    def several(times):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(times):
            run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / times

    several(3)
    return several(max(3, int(seconds / max(several(3), 1e-6))))


def product(form, rows, out, width):
    def random(*shape):
        return torch.randn(shape, device="cuda", dtype=kind)

    if form == "forward":
        x, w = random(rows, width), random(out, width)
        return lambda: torch.matmul(x, w.T)
    if form == "input":
        dy, w = random(rows, out), random(out, width)
        return lambda: torch.matmul(dy, w)
    dy, x = random(rows, out), random(rows, width)
    return lambda: torch.matmul(dy.T, x)


def attention(batch, heads, length, depth):
    q, k, v = (torch.randn(batch, heads, length, depth, device="cuda", dtype=kind, requires_grad=True) for _ in range(3))
    dy = torch.randn(batch, heads, length, depth, device="cuda", dtype=kind)

    def run():
        F.scaled_dot_product_attention(q, k, v, is_causal=True).backward(dy)
        q.grad = k.grad = v.grad = None

    return run


for case in cases:
    words = case.split("_")
    if words[0] == "attention":
        run, kernel = attention(*map(int, words[1:])), "scaled_dot_product_attention"
    else:
        run, kernel = product(words[1], *map(int, words[2:])), "cuBLAS"
    print(json.dumps({"time": case, "dtype": dtype, "seconds": timed(run), "kernel": f"PyTorch {torch.__version__} {kernel}"}),
          flush=True)
    torch.cuda.empty_cache()
