#!/usr/bin/env python3
"""The bench: how fast products, kernels, steps and the compiler are, beside rivals and the machine's own limits.

Each contestant is a process of its own (see worker.h): they take turns, and only one works at a time. `./dev bench --help`.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build")
PROGRAMS = os.path.join(BUILD, "tests", "bench")
VENV = os.path.join(BUILD, "bench_venv")
TABLES = ("gemm", "kernels", "step", "compile")
THREADS = (1, 2)
BLIS_SKX, BLIS_HASWELL, BLIS_ZEN3 = "0", "3", "6"  # configurations are numbers to BLIS 0.9
# Relative to the magnitudes that an element sums up; an operand in bf16 is wrong by 2^-9 at most.
ERROR = {"f32": 1e-5, "bf16": 2**-8 + 1e-5}
OWN_F32 = "own f32"  # beside bf16: no rival
median = statistics.median


class Failed(Exception):
    pass


# ---- workers and their turns


class Worker:
    all = []

    def __init__(self, name, *arguments, environment=None, program=None):
        self.name = name
        command = [program or os.path.join(PROGRAMS, name), *arguments]
        if not os.path.exists(command[0]):
            raise Failed(f"{os.path.relpath(command[0], ROOT)} is missing: ./dev bench builds it")
        # These two choose a slower kernel than the library would by itself.
        unset = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
        env = {key: value for key, value in os.environ.items() if key not in unset} | (environment or {})
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        Worker.all.append(self)

    def turn(self, case, threads=1, seconds=0.0):
        try:
            self.process.stdin.write(f"{case} {threads} {seconds}\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            raise Failed(f"{self.name} stopped in the case {case}") from None

    def ticks(self):
        """Of the CPU, used so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))

    def peak_memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        Worker.all.remove(self)


def all_ticks():
    """What all processes together have used: user, nice, system and interrupts."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, *interrupts = map(int, stat.readline().split()[1:8])
        return user + nice + system + sum(interrupts)


class Bench:
    def __init__(self, options):
        self.options = options
        self.dtype = options.dtype
        self.suffix = {"f32": "", "bf16": "_bf16"}[options.dtype]
        self.peak = f"fma_{options.dtype}"
        self.rounds, self.seconds = (3, 0.02) if options.quick else (9, 0.05)
        self.rows = []
        self.others = []  # CPUs that other processes kept busy, case by case
        self.json = open(options.json, "w", encoding="utf-8") if options.json else None

    def wanted(self, case):
        return not self.options.filter or self.options.filter in case

    def interleave(self, threads, turns):
        """turns: {name: (worker, case)}; gives {name: answers, one a round}. Each round begins with another worker."""
        answers = {name: [] for name in turns}
        names = list(turns)
        workers = {worker for worker, _ in turns.values()}

        def other_ticks():
            return all_ticks() - sum(worker.ticks() for worker in workers)

        start, before = time.perf_counter(), other_ticks()
        for round_ in range(self.rounds):
            for name in names[round_ % len(names):] + names[:round_ % len(names)]:
                worker, case = turns[name]
                answers[name].append(worker.turn(case, threads, self.seconds))
                if answers[name][-1].get("error", 0) > (1e-5 if name == OWN_F32 else ERROR[self.dtype]):
                    raise Failed(f"{worker.name} computes {case} wrongly: error {answers[name][-1]['error']}")
        self.others.append((other_ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.perf_counter() - start))
        return answers

    def add(self, row, text):
        print(text, flush=True)
        self.rows.append(row)
        if self.json:
            keys = {"others_busy": self.others[-1] if self.others else None, "best_rival": None, "ratio_best_rival": None, "counts_for_target": False}
            self.json.write(json.dumps({"dtype": self.dtype, "cpu": self.options.cpu} | row | {k: row.get(k, v) for k, v in keys.items()}) + "\n")
            self.json.flush()

    def select(self, table, **wanted):
        return [row for row in self.rows if row["table"] == table and all(row.get(k) == v for k, v in wanted.items())]


def target(what, value, least, digits=3, most=False):
    met = value <= least if most else value >= least
    bound = "at most" if most else "at least"
    print(f"target  {what}: {value:.{digits}f} ({bound} {least}): {'met' if met else 'NOT MET'}")


def ratios(others, ours):
    """How many times as long the others took, round by round."""
    return median(other["seconds"] / own["seconds"] for other, own in zip(others, ours))


# ---- gemm


def gemm_rivals(bench):
    """By name, the ways that a library has: it is taken at its fastest, case by case."""
    if bench.dtype == "bf16":
        # Our own f32 beside it: what bf16 brings where no rival has a kernel for it.
        return {"oneDNN": [Worker("rival_onednn", "bf16")], OWN_F32: [Worker("program_bench_gemm")]}
    # OpenBLAS's threads would spin far into the turns of others; within a turn this makes no difference.
    openblas = {"OPENBLAS_THREAD_TIMEOUT": "22"}
    if bench.options.cpu == "x86-64-v3":
        return {"OpenBLAS": [Worker("rival_openblas", environment=openblas | {"OPENBLAS_CORETYPE": "Haswell"})],
                "BLIS": [Worker("rival_blis", environment={"BLIS_ARCH_TYPE": config}) for config in (BLIS_HASWELL, BLIS_ZEN3)],
                "oneDNN": [Worker("rival_onednn", way, environment={"ONEDNN_MAX_CPU_ISA": "AVX2"}) for way in ("matmul", "sgemm")]}
    rivals = {"OpenBLAS": [Worker("rival_openblas", environment=openblas)], "BLIS": [Worker("rival_blis")],
              "oneDNN": [Worker("rival_onednn", way) for way in ("matmul", "sgemm")]}
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        if "avx512f" in info.read():
            rivals["BLIS"].append(Worker("rival_blis", environment={"BLIS_ARCH_TYPE": BLIS_SKX}))
    return rivals


def gemm(bench):
    suffix = "_avx2" if bench.options.cpu == "x86-64-v3" else bench.suffix
    ours, limits = Worker(f"program_bench_gemm{suffix}"), Worker("bench_limits")
    rivals = gemm_rivals(bench)
    kernels = {}
    print(f"{'case':<34}{'threads':>8}{'ms':>10}{'GFLOP/s':>9}{'of peak':>9}   time of the rivals over ours")
    for name in ours.turn("cases"):
        if not bench.wanted(name):
            continue
        group, form, *sizes = name.split("_")
        flops = 2 * math.prod(map(int, sizes))
        for threads in THREADS:
            turns = {"burin": (ours, name), "peak": (limits, bench.peak)}
            for rival, ways in rivals.items():
                way = min(ways, key=lambda worker: worker.turn(name, threads, bench.seconds)["seconds"])
                turns[rival] = (way, name)
            answers = bench.interleave(threads, turns)
            seconds = median(answer["seconds"] for answer in answers["burin"])
            fraction = median(flops / own["seconds"] / 1e9 / peak["rate"] for own, peak in zip(answers["burin"], answers["peak"]))
            times = {rival: ratios(answers[rival], answers["burin"]) for rival in rivals}
            best = min((rival for rival in times if rival != OWN_F32), key=times.get)
            for rival in rivals:
                kernels.setdefault(rival, set()).add(answers[rival][0].get("kernel", "-"))
            row = {"table": "gemm", "case": "x".join(sizes), "form": form, "threads": threads, "ms": seconds * 1e3,
                   "gflops": flops / seconds / 1e9, "peak_fraction": fraction, "best_rival": best, "ratio_best_rival": times[best],
                   "rivals": times, "rival_kernel": answers[best][0]["kernel"], "counts_for_target": group in ("course", "gpt")}
            others = "  ".join(f"{'*' if rival == best else ''}{rival} {time_:.3f}" for rival, time_ in times.items())
            bench.add(row, f"{name:<34}{threads:>8}{row['ms']:>10.3f}{row['gflops']:>9.1f}{fraction:>9.3f}   {others}")
    for rival, names in kernels.items():
        print(f"kernels of {rival}: {', '.join(sorted(names))}")
    for threads, least in zip(THREADS, (1.05, 1.10)):
        rows = bench.select("gemm", threads=threads, counts_for_target=True)
        if not rows:
            continue
        what = f"{bench.dtype} products of training, {len(rows)} cases, {threads} thread(s)"
        mean = statistics.geometric_mean
        if bench.dtype == "bf16":
            target(f"{what}, against oneDNN, geometric mean", mean(row["rivals"]["oneDNN"] for row in rows), 1.0)
            target(f"{what}, against our own f32, geometric mean", mean(row["rivals"][OWN_F32] for row in rows), 1.9)
            continue
        counted = [row["ratio_best_rival"] for row in rows]
        if bench.options.cpu == "x86-64-v3":
            target(f"{what}, AVX2 against the best rival limited to it, geometric mean", mean(counted), 0.85)
            continue
        target(f"{what}, against the best rival, geometric mean", mean(counted), least)
        target(f"{what}, against the best rival, least", min(counted), 0.95)


# ---- kernels

# By the first word of a case's name: form, launches that are it, launches that only surround it, what bounds it, how much of
# that its sizes ask for (FLOPs, or bytes read and written), and the bytes that it touches where those are fewer. Launches are matched as "forward OP" up to the sum that makes a loss of the case's result, and as
# "backward OP" after it. One that matches neither pattern is an error, so that no work goes uncounted.
ATTENTION_ROWS = 4096 * 4  # tokens times heads of every case, see cases.cpp
LOSS = "mul + reduce_sum"
AROUND = r"backward (mul \+ )?reduce_sum|(forward|backward) (greater_equal|reduce_sum) \+ mul"
KERNELS = {
    "attention": [("forward", r"forward attention", rf"backward|{AROUND}", "fma", lambda length, depth: 2 * ATTENTION_ROWS * (length + 1) * depth),
                  ("backward", r"backward attention_grad", rf"forward|{AROUND}|backward add \+ where", "fma",
                   lambda length, depth: 4 * ATTENTION_ROWS * (length + 1) * depth)],
    "norm": [("forward", r"forward", r"$", "copy", lambda rows, width: 8 * rows * width)],
    "swiglu": [("forward", r"forward", r"$", "fma", lambda rows, hidden, width: 6 * rows * hidden * width)],
    "linearloss": [("loss and gradients", r"forward", r"$", "fma", lambda rows, vocab, width: 6 * rows * vocab * width)],
    "embedding": [("gradient", r"backward (embedding|where)", rf"forward|{AROUND}", "copy", lambda rows, vocab, width: 4 * (rows + vocab) * width)],
    "update": [("clipping", r"backward (mul \+ )?reduce_sum", r"", "copy", lambda parameters: 4 * parameters),
               ("update", r"backward (?!(mul \+ )?reduce_sum)", r"", "copy", lambda parameters: 28 * parameters, lambda parameters: 16 * parameters)],
}


def launch_times(answer, counted, around, case):
    """The seconds of the launches that are counted."""
    seconds, part = 0, "forward"
    for op, time_, *_ in answer["launches"]:
        part = "backward" if op == LOSS else part
        if re.match(counted, f"{part} {op}"):
            seconds += time_
        elif not re.match(around, f"{part} {op}"):
            raise Failed(f"launch '{op}' of the case {case} is neither counted nor left out")
    return seconds


def kernels(bench):
    ours, limits = Worker("program_bench_kernels"), Worker("bench_limits")
    print(f"{'case':<34}{'form':<20}{'threads':>8}{'ms':>10}{'rate':>15}{'of limit':>9}   limit")
    for name in ours.turn("cases"):
        if not bench.wanted(name):
            continue
        kind, *sizes = name.split("_")
        sizes = list(map(int, sizes))
        for threads in THREADS:
            cases = {"burin": (ours, name)}
            for form, _, _, bound, amount, *touched in KERNELS[kind]:
                cases[form] = (limits, bench.peak if bound == "fma" else f"copy_{(*touched, amount)[0](*sizes)}")
            answers = bench.interleave(threads, cases)
            for form, counted, around, bound, amount, *_ in KERNELS[kind]:
                seconds = [launch_times(answer, counted, around, name) for answer in answers["burin"]]
                rates = [amount(*sizes) / time_ / 1e9 for time_ in seconds]
                fraction = median(rate / limit["rate"] for rate, limit in zip(rates, answers[form]))
                counts = form in ("update", "gradient") or kind == "norm" or (kind == "attention" and sizes in ([1024, 64], [128, 32]))
                unit = "gflops" if bound == "fma" else "gbytes_per_s"
                row = {"table": "kernels", "case": name, "form": form, "threads": threads, "ms": median(seconds) * 1e3,
                       unit: median(rates), "peak_fraction": fraction, "limit": bound, "counts_for_target": counts}
                rate = f"{row[unit]:.1f} {'GFLOP/s' if bound == 'fma' else 'GB/s'}"
                bench.add(row, f"{name:<34}{form:<20}{threads:>8}{row['ms']:>10.3f}{rate:>15}{fraction:>9.3f}   {bound}")
    least = {("attention_1024_64", "forward"): 0.70, ("attention_1024_64", "backward"): 0.70,
             ("attention_128_32", "forward"): 0.45, ("attention_128_32", "backward"): 0.50}
    for row in bench.select("kernels", threads=2, counts_for_target=True):
        target(f"{row['case']} {row['form']}, share of the {row['limit']} limit", row["peak_fraction"],
               least.get((row["case"], row["form"]), 0.85))


# ---- step

GPT = {"vocab": 50304, "width": 768, "layers": 12, "heads": 12, "hidden": 2048, "tied": True}
STEPS = {"cs336": {"vocab": 256, "width": 256, "layers": 4, "heads": 8, "hidden": 704, "tied": False, "batch": 16, "length": 128},
         "gpt_4x64": GPT | {"batch": 4, "length": 64},
         "gpt_1x1024": GPT | {"batch": 1, "length": 1024},
         "gpt_1x1024_lean": GPT | {"batch": 1, "length": 1024}}
# What is computed again in less memory is no progress: FLOPs are those of the model that computes everything once.
FLOPS_OF = {"gpt_1x1024_lean": "gpt_1x1024"}


def torch_python():
    """The interpreter of an environment with PyTorch, which is made where it is missing."""
    python = os.path.join(VENV, "bin", "python3")
    if not os.path.exists(os.path.join(VENV, "complete")):
        print(f"making {os.path.relpath(VENV, ROOT)} with PyTorch: 5.4 GB", flush=True)
        for command in ([sys.executable, "-m", "venv", VENV], [python, "-m", "pip", "install", "--quiet", "torch", "numpy"]):
            if subprocess.run(command).returncode != 0:
                raise Failed(f"'{' '.join(command)}' failed: --rivals needs python3-venv and PyPI")
        open(os.path.join(VENV, "complete"), "w", encoding="ascii").close()
    return python


def check_same(name, ours, torch, threads, tolerance):
    """The same parameters and batch give the same loss in both, up to a share of it."""
    file = os.path.join(PROGRAMS, f"{name}.parameters")
    saved = ours.turn(f"save:{file}", threads)
    with open(file + ".json", "w", encoding="utf-8") as out:
        json.dump(saved | {"file": file}, out)
    loss = torch.turn(f"check:{file}.json", threads)["loss"]
    os.remove(file)
    os.remove(file + ".json")
    if not abs(loss - saved["loss"]) < tolerance * abs(loss):
        raise Failed(f"{name}: PyTorch's loss of the same batch is {loss}, not {saved['loss']}")
    print(f"{name}: the loss of one batch is {saved['loss']:.6f}, in PyTorch {loss:.6f}")


def step(bench):
    rivals = ("eager", "compiled") if bench.options.rivals else ()
    python = torch_python() if rivals else None
    print(f"{'model':<16}{'threads':>8}{'ms':>11}{'tokens/s':>10}{'GFLOP/s':>9}{'of peak':>9}{'resident MB':>13}   PyTorch's time over ours, resident MB")
    for name, sizes in STEPS.items():
        if not bench.wanted(name):
            continue
        for threads in THREADS:
            ours, limits = Worker(f"program_{name}{bench.suffix}"), Worker("bench_limits")
            wide = {"f32": Worker(f"program_{name}")} if bench.dtype != "f32" else {}
            torch = {mode: Worker(f"PyTorch {mode}", os.path.join(HERE, "torch_step.py"), mode, bench.dtype, str(threads), json.dumps(sizes),
                                  program=python,
                                  environment={"TORCHINDUCTOR_CACHE_DIR": os.path.join(BUILD, "bench_inductor")})
                     for mode in rivals}
            if torch and threads == 1:
                check_same(name, ours, torch["eager"], threads, {"f32": 1e-4, "bf16": 5e-3}[bench.dtype])
            for worker in torch.values():
                worker.turn("step", threads)  # compiles
            answers = bench.interleave(threads, {"burin": (ours, "step"), "peak": (limits, bench.peak)}
                                       | {rival: (worker, "step") for rival, worker in (wide | torch).items()})
            first = answers["burin"][0]
            once = Worker(f"program_{FLOPS_OF[name]}{bench.suffix}") if name in FLOPS_OF else ours
            flops = sum(launch[2] for launch in (once.turn("step", threads) if once is not ours else first)["launches"])
            seconds = median(answer["seconds"] for answer in answers["burin"])
            fraction = median(flops / own["seconds"] / 1e9 / peak["rate"] for own, peak in zip(answers["burin"], answers["peak"]))
            states = 16 * first["parameters"]
            row = {"table": "step", "case": name, "form": "step", "threads": threads, "ms": seconds * 1e3, "gflops": flops / seconds / 1e9,
                   "peak_fraction": fraction, "peak_gflops": median(answer["rate"] for answer in answers["peak"]),
                   "tokens_per_s": first["tokens"] / seconds, "resident_bytes": ours.peak_memory(), "counts_for_target": True,
                   "launches": len(first["launches"])}
            row["beyond_states"] = row["resident_bytes"] - states
            others = ""
            if wide:
                row["ratio_f32"] = ratios(answers["f32"], answers["burin"])
                others = f"   own f32 {row['ratio_f32']:.2f}"
            for mode, worker in torch.items():
                if answers[mode][0]["parameters"] != first["parameters"]:
                    raise Failed(f"{name} has {first['parameters']} parameters, in PyTorch {answers[mode][0]['parameters']}")
                resident, time_ = worker.peak_memory(), ratios(answers[mode], answers["burin"])
                row |= {f"ratio_{mode}": time_, f"resident_bytes_{mode}": resident,
                        # Without the interpreter and the libraries themselves.
                        f"beyond_states_{mode}": resident - answers[mode][0]["before"] - states}
                others += f"   {mode} {time_:.2f}, {resident / 1e6:.0f}"
            if torch:
                best = min(torch, key=lambda mode: row[f"ratio_{mode}"])
                row |= {"best_rival": answers[best][0]["kernel"], "ratio_best_rival": row[f"ratio_{best}"]}
            bench.add(row, f"{name:<16}{threads:>8}{row['ms']:>11.2f}{row['tokens_per_s']:>10.0f}{row['gflops']:>9.1f}{fraction:>9.3f}"
                           f"{row['resident_bytes'] / 1e6:>13.0f}{others}")
            for worker in {ours, once, limits, *wide.values(), *torch.values()}:
                worker.close()
    for name, least in (("cs336", 0.75), ("gpt_4x64", 0.60), ("gpt_1x1024", 0.70), ("gpt_1x1024_lean", 0.70)):
        for row in bench.select("step", case=name, threads=2):
            if bench.dtype == "f32":
                target(f"{name} step, share of the FMA peak", row["peak_fraction"], least)
            elif name in ("cs336", "gpt_1x1024"):
                target(f"{name} step, f32's time over bf16's", row["ratio_f32"], 1.7)
            for mode, most in (("eager", 2.0), ("compiled", 1.5)):
                if f"ratio_{mode}" in row and name not in FLOPS_OF:
                    target(f"{name} {bench.dtype} step, PyTorch {mode}'s time over ours", row[f"ratio_{mode}"], most)
    if bench.dtype != "f32":
        return
    for row in bench.select("step", threads=2):
        if "ratio_eager" in row and row["case"] in ("gpt_1x1024", "gpt_1x1024_lean"):
            least = min(row["beyond_states_eager"], row["beyond_states_compiled"])
            target(f"{row['case']}, memory beyond 16 bytes a parameter over PyTorch's", row["beyond_states"] / least, 0.3, most=True)
    one, two = (bench.select("step", case="cs336", threads=threads) for threads in THREADS)
    if one and two:
        target("cs336 step, speed-up with 2 threads over the FMA loop's own",
               one[0]["ms"] / two[0]["ms"] / (two[0]["peak_gflops"] / one[0]["peak_gflops"]), 0.95)


# ---- compile


def measured(command):
    """Seconds, seconds of CPU, peak memory and standard output of a command and what it starts."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        raise Failed(f"'{' '.join(command[:1])} ...' failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output


def compile_(bench):
    with open(os.path.join(PROGRAMS, "generator.json"), encoding="utf-8") as file:
        tools = json.load(file)
    folder = os.path.join(PROGRAMS, "compile")
    os.makedirs(folder, exist_ok=True)
    course = ("cs336", "models/cs336.cpp", 16, 128, [])
    points = [(2, 64), (2, 256), (2, 768), (2, 1024), (2, 4096), (12, 768), (48, 768)]
    cases = [course] + [(f"gpt_{layers}_{width}", "tests/bench/gpt.cpp", 1, 1024, [f"-DBENCH_LAYERS={layers}", f"-DBENCH_WIDTH={width}"])
                        for layers, width in points]
    print(f"{'model':<16}{'seconds':>9}{'declare':>9}{'CPU':>8}{'peak MB':>9}{'declare':>9}{'kernels':>9}{'object kB':>11}")
    for name, source, batch, length, defines in cases:
        if not bench.wanted(name):
            continue
        generator = os.path.join(folder, name)
        # Twice the same language: the C++ compiler evaluates the declaration, the generator compiles it.
        declare = [tools["compiler"], *tools["flags"], *defines, f"-DBURIN_BATCH={batch}", f"-DBURIN_LENGTH={length}",
                   os.path.join(ROOT, source), "-o", generator, *tools["libraries"]]
        model = "cs336" if name == "cs336" else "gpt"
        generate = [generator, f"--model={model}", f"--name={name}", f"--batch={batch}", f"--length={length}", f"--out={folder}", "--table"]
        runs = [(measured(declare), measured(generate)) for _ in range(1 if bench.options.quick else 3)]
        seconds, declaring, cpu = (median(values) for values in zip(*((a[0] + b[0], a[0], a[1] + b[1]) for a, b in runs)))
        memory, declaring_memory = max(b[2] for _, b in runs), max(a[2] for a, _ in runs)
        rows = {line.split()[0]: line.split() for line in runs[0][1][3].splitlines() if re.match(r"(tiled|object) ", line)}
        row = {"table": "compile", "case": name, "form": "object", "threads": None, "ms": seconds * 1e3, "declare_ms": declaring * 1e3,
               "cpu_ms": cpu * 1e3, "peak_bytes": max(memory, declaring_memory), "kernels": int(rows["tiled"][3]),
               "object_bytes": os.path.getsize(os.path.join(folder, name + ".o")), "counts_for_target": name in ("cs336", "gpt_12_768", "gpt_48_768")}
        bench.add(row, f"{name:<16}{seconds:>9.2f}{declaring:>9.2f}{cpu:>8.2f}{memory / 1e6:>9.0f}{declaring_memory / 1e6:>9.0f}"
                       f"{row['kernels']:>9}{row['object_bytes'] / 1e3:>11.0f}")
    found = {row["case"]: row for row in bench.select("compile")}
    for name, most in (("cs336", 8), ("gpt_12_768", 12)):
        if name in found:
            target(f"{name}, model file to object, seconds", found[name]["ms"] / 1e3, most, 1, most=True)
    if "gpt_12_768" in found and "gpt_48_768" in found:
        target("48 layers over 12, seconds", found["gpt_48_768"]["ms"] / found["gpt_12_768"]["ms"], 1.3, 2, most=True)
    if found:
        target("peak memory of compiling, GiB", max(row["peak_bytes"] for row in found.values()) / 2**30, 1.5, 2, most=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description="prints tables of measured speed; the README of tests/bench explains them")
    parser.add_argument("tables", nargs="+", choices=TABLES, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--json", metavar="FILE", help="also write the rows, one JSON object a line")
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32", help="of products (gemm, step): bf16 beside oneDNN's, PyTorch's and our own f32")
    parser.add_argument("--cpu", choices=("native", "x86-64-v3"), default="native", help="gemm: x86-64-v3 holds everyone to AVX2")
    parser.add_argument("--filter", metavar="TEXT", help="only cases with TEXT in their names")
    parser.add_argument("--rivals", action="store_true", help="step: the same models in PyTorch")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns: to try the bench, not to quote it")
    options = parser.parse_args()
    for table in options.tables:
        if options.dtype != "f32" and table not in ("gemm", "step"):
            parser.error(f"the table {table} is measured in f32 alone: leave out --dtype {options.dtype}")
        if options.cpu != "native" and (table != "gemm" or options.dtype != "f32"):
            parser.error(f"--cpu {options.cpu} is for the table gemm in f32")
    run = {"gemm": gemm, "kernels": kernels, "step": step, "compile": compile_}
    try:
        bench = Bench(options)
        for table in options.tables:
            print(f"\n== {table}, {options.dtype}{'' if options.cpu == 'native' else ', ' + options.cpu}")
            run[table](bench)
            if not bench.select(table):
                raise Failed(f"no case of {table} has '{options.filter}' in its name")
            for worker in list(Worker.all):
                worker.close()
            if bench.others and statistics.mean(bench.others) > 0.1:
                print(f"NOT TO BE QUOTED: other processes kept {statistics.mean(bench.others):.1f} CPUs busy meanwhile")
            bench.others.clear()
    except (Failed, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        for worker in Worker.all:
            worker.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
