"""What gpu.sh runs once the programs are there: checks against the CPU, then times.

Parts, in this order, each of which can be chosen with --only:
  check      every kernel of the small cases (cases.cpp, gpu_check) against the CPU, f32 and bf16, and twice for equal bits
  train      the same run on the CPU and on the GPU: 100 steps of the course's model, losses step by step
  gemm       products: square ones, those of the 124M model; beside cuBLAS, through PyTorch if that is installed
  attention  forward and backward together; beside PyTorch's
  step       tokens a second and share of the peak: the 124M model at 16 x 1024, the course's at 16 x 128
With --tiny only check and train, the latter of a tiny model: what an emulated GPU can do.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

CHECK_FAILED, NO_DEVICE = 1, 3
DTYPES = ("f32", "bf16")
STEPS = 100
# What may be between the losses of two runs that begin alike, of a hundred steps: sums in another order, and in bf16
# roundings that go the other way, which training then carries on. Relative to the loss; the last also bounds the mean.
LOSS_TOLERANCE = {"f32": 1e-3, "bf16": 1e-2}
# The first wanted figures, of an H200 in bf16; they are reported and decide nothing.
WANTED = {"gemm": 0.65, "attention": 0.35, "step": 0.30}

parser = argparse.ArgumentParser(prog="gpu.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
parser.add_argument("--only", action="append", choices=("check", "train", "gemm", "attention", "step"))
parser.add_argument("--tiny", action="store_true")
parser.add_argument("--steps", type=int, default=STEPS, help="of the training run [100]")
parser.add_argument("--seconds", type=float, default=0.5, help="for each timed case [0.5]")
parser.add_argument("--limit", type=float, default=350, help="seconds for everything [350]")
parser.add_argument("--json", default="build/gpu.json", help="where to write [build/gpu.json]")
options = parser.parse_args()

began = time.monotonic()
results = {"device": None, "texts": {}, "check": [], "train": [], "time": [], "step": [], "failures": []}


def say(text):
    print(f"[{time.monotonic() - began:5.0f} s] {text}", file=sys.stderr, flush=True)


def wanted(part):
    return part in (options.only or (("check", "train") if options.tiny else ("check", "train", "gemm", "attention", "step")))


def program(name, dtype):
    return os.path.join(options.programs, name + ("_bf16" if dtype == "bf16" else ""))


def failed(text):
    say("FAILED: " + text)
    results["failures"].append(text)


def run(command, what):
    """The lines of a program that may still take what is left of the time; None, and a failure, where it does not end well."""
    left = options.limit - (time.monotonic() - began)
    if left < 1:
        failed(f"{what}: the time was up before it began")
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=left)
    except subprocess.TimeoutExpired:
        failed(f"{what}: the time was up")
        return None
    except OSError as error:
        failed(f"{what}: {error}")
        return None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        failed(f"{what}: exit code {done.returncode}: {lines[-1] if lines else 'nothing was said'}")
    return done.stdout.splitlines()


def objects(lines):
    return [json.loads(line) for line in lines or [] if line.startswith("{")]


def find_device():
    """The GPU that our own programs find, and which of their texts it runs; or the end of this one."""
    for dtype in DTYPES:
        found = objects(run([program("gpu_tiny", dtype), "info", "--device", "gpu", "--json"], "looking for a GPU"))
        if not found:
            finish()
        gpu = found[0]["gpu"]
        if "none" in gpu:
            print(f"gpu.sh: nothing was run: {gpu['none']}", file=sys.stderr)
            sys.exit(NO_DEVICE)
        results["texts"][dtype] = gpu.pop("text", "none")
        results["device"] = gpu
    texts = ", ".join(f"{text} in {dtype}" for dtype, text in results["texts"].items())
    say(f"{gpu['name']}, compute capability {gpu['compute_capability']}, {gpu['bytes'] / 2**30:.0f} GiB, kernels of {texts}")


def check():
    for dtype in DTYPES:
        lines = objects(run([program("bench_gpu", dtype), "check"], f"kernels in {dtype}"))
        results["check"] += lines
        for line in lines:
            if not line["right"]:
                failed(f"kernel {line['check']} in {dtype}: {line['worst']:.3g} off where the largest is {line['largest']:.3g}"
                       + ("" if line["same_twice"] else ", and another result the second time"))
        say(f"kernels in {dtype}: {sum(line['right'] for line in lines)} of {len(lines)} right")
        if not lines:
            failed(f"kernels in {dtype}: none was checked")


def sample():
    """Text of few letters, enough of it for the windows of either model."""
    words = ("a", "cat", "sat", "on", "the", "mat", "and", "then", "ran", "to", "see", "me")
    state, text = 1, []
    for _ in range(12000):
        state = (state * 1103515245 + 12345) % 2**31
        text.append(words[state // 65536 % len(words)])
    return " ".join(text)


def losses(folder):
    with open(os.path.join(folder, "log.jsonl")) as log:
        return [line["loss"] for line in map(json.loads, log) if line["event"] == "step"]


def train():
    name = "gpu_tiny" if options.tiny else "gpu_course"
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "text")
        with open(data, "w") as file:
            file.write(sample())
        for dtype in DTYPES:
            runs = {}
            for device in ("cpu", "gpu"):
                out = os.path.join(folder, device + dtype)
                before = len(results["failures"])
                run([program(name, dtype), "train", "--device", device, "--data", data, "--out", out, "--steps",
                     str(options.steps), "--lr", "1e-3", "--seed", "1", "--save-every", "0"], f"training in {dtype} on the {device}")
                if len(results["failures"]) == before:
                    runs[device] = losses(out)
            if len(runs) < 2:
                continue
            cpu, gpu = runs["cpu"], runs["gpu"]
            # A loss that is not finite is null in the log.
            finite = len(cpu) == len(gpu) == options.steps and None not in cpu + gpu
            worst = max(abs(a - b) / a for a, b in zip(cpu, gpu)) if finite else None
            right = finite and worst <= LOSS_TOLERANCE[dtype] and gpu[-1] < gpu[0]
            results["train"].append({"model": name, "dtype": dtype, "text": results["texts"][dtype], "steps": options.steps, "worst": worst, "right": right,
                                     "cpu": cpu, "gpu": gpu})
            if not right:
                failed(f"training in {dtype}: losses differ by {worst} of the loss, {LOSS_TOLERANCE[dtype]} may be" if finite else
                       f"training in {dtype}: {len(cpu)} losses on the CPU, {len(gpu)} on the GPU, or one is not finite")
            else:
                say(f"training in {dtype}: {options.steps} steps, losses at most {worst:.2g} of the loss apart, "
                    f"{gpu[0]:.3f} to {gpu[-1]:.3f}")


def times(parts):
    for dtype in DTYPES:
        lines = objects(run([program("bench_gpu", dtype), "time", str(options.seconds)], f"timing kernels in {dtype}"))
        lines = [line for line in lines if ("attention" if line["time"].startswith("attention") else "gemm") in parts]
        for line in lines:
            if not line["time"].startswith("attention") and line.get("right") is not True:
                failed(f"product {line['time']} in {dtype}: wrong, {line.get('error')} off")
        cases = [line["time"] for line in lines]
        rival = {}
        if cases and torch_there():
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_gpu.py")
            rival = {line["time"]: line for line in objects(
                run([python(), script, str(options.seconds / 2), dtype, *cases], f"PyTorch in {dtype}"))}
        for line in lines:
            beside = rival.get(line["time"])
            line["rival"] = beside["kernel"] if beside else None
            line["rival_seconds"] = beside["seconds"] if beside else None
            results["time"].append(line)
        say(f"timed {len(lines)} kernels in {dtype}")


def python():
    return os.environ.get("BURIN_TORCH_PYTHON", sys.executable)


def torch_there():
    global torch_known
    if torch_known is None:
        done = subprocess.run([python(), "-c", "import torch; print(torch.cuda.is_available())"], capture_output=True, text=True)
        torch_known = done.stdout.strip() == "True"
        if not torch_known:
            say("no PyTorch with CUDA in " + python() + ": nothing to compare with (BURIN_TORCH_PYTHON names another Python)")
    return torch_known


torch_known = None


def steps():
    for name in ("gpu_gpt", "gpu_course"):
        for dtype in DTYPES:
            lines = objects(run([program(name, dtype), "bench", "--device", "gpu", "--entry", "step", "--pairs", "3", "--seconds",
                                 str(2 * options.seconds), "--json"], f"steps of {name} in {dtype}"))
            results["step"] += lines
    say(f"timed {len(results['step'])} steps")


def share(value):
    return "unknown" if value is None else f"{value:.2f}"


def table():
    print(f"\n{results['device']['name']}, compute capability {results['device']['compute_capability']}")
    for dtype, text in results["texts"].items():
        lines = [line for line in results["check"] if line["dtype"] == dtype]
        if lines:
            print(f"kernels in {dtype} ({text}) checked against the CPU: {sum(line['right'] for line in lines)} of {len(lines)} right")
    for line in results["train"]:
        print(f"{line['steps']} steps of {line['model']} in {line['dtype']} ({line['text']}), beside the CPU: losses at most {line['worst']} of "
              f"the loss apart: {'right' if line['right'] else 'WRONG'}")
    if results["time"]:
        print(f"\n{'case':<34}{'dtype':<6}{'text':<8}{'ms':>10}{'TFLOP/s':>10}{'of peak':>9}{'products ms':>13}{'PyTorch ms':>12}{'ratio':>8}")
    for line in results["time"]:
        peak = line["peak_gflops"] * 1e9
        seconds, rival = line["products"], line["rival_seconds"]
        print(f"{line['time']:<34}{line['dtype']:<6}{line['text']:<8}{line['seconds'] * 1e3:>10.3f}{line['flops'] / seconds / 1e12:>10.1f}"
              f"{share(line['flops'] / seconds / peak if peak else None):>9}{seconds * 1e3:>13.3f}"
              + (f"{rival * 1e3:>12.3f}{rival / seconds:>8.2f}" if rival else f"{'-':>12}{'-':>8}"))
    if results["step"]:
        print(f"\n{'step of':<24}{'dtype':<6}{'text':<8}{'ms':>10}{'tokens/s':>13}{'of peak':>9}{'bytes':>16}")
    for line in results["step"]:
        print(f"{line['model']:<24}{line['dtype']:<6}{line['text']:<8}{line['ms']:>10.3f}{line['tokens_per_s']:>13.0f}{share(line['peak_fraction']):>9}"
              f"{line['device_bytes']:>16}")
    if results["time"] or results["step"]:
        print(f"\nwanted in bf16 on an H200: products at {WANTED['gemm']} of cuBLAS from 4096 on, attention at {WANTED['attention']} and the step "
              f"of the 124M model at {WANTED['step']} of the peak")


def finish():
    results["seconds"] = time.monotonic() - began
    os.makedirs(os.path.dirname(os.path.abspath(options.json)), exist_ok=True)
    with open(options.json, "w") as file:
        json.dump(results, file, indent=1)
    if results["device"]:
        table()
    for text in results["failures"]:
        print("FAILED: " + text)
    print(f"{'FAILED' if results['failures'] else 'all is right'}, {results['seconds']:.0f} s, {options.json}")
    sys.exit(CHECK_FAILED if results["failures"] else 0)


find_device()
if wanted("check"):
    check()
if wanted("train"):
    train()
if wanted("gemm") or wanted("attention"):
    times([part for part in ("gemm", "attention") if wanted(part)])
if wanted("step"):
    steps()
finish()
