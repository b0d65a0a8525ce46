#!/usr/bin/env python3
"""Checks on whole objects that need other programs: nm, a second compilation, burin-opt in a fresh process, a linker."""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


def dumps(build):
    """The stages' dumps in order; the graph is none that can be continued."""
    found = sorted(name for name in os.listdir(build) if re.fullmatch(r"tiny\.\d+-\w+\.mlir", name))
    assert [re.sub(r"tiny\.\d+-|\.mlir", "", name) for name in found] == \
        ["imported", "fused", "joint", "grouped", "planned", "tiled", "native"], found
    return [os.path.join(build, name) for name in found]


def symbols(arguments):
    """One exported symbol, and nothing that can be written to."""
    path = os.path.join(arguments.build, "tiny.o")
    defined = run("nm", "--extern-only", "--defined-only", path).split()
    assert defined[1:] == ["R", "tiny_model"] or defined[1:] == ["D", "tiny_model"], defined
    for line in run("readelf", "--sections", "--wide", path).splitlines():
        section = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+\S+\s+\S+\s+(\S+)\s+\S+\s+(\S*)", line)
        if section and "W" in section[3] and int(section[2], 16) > 0:
            # Relocated addresses: written once by the loader and protected then.
            assert section[1].startswith(".data.rel.ro"), line
    undefined = {line.split()[-1] for line in run("nm", "--undefined-only", path).splitlines()}
    assert undefined <= {"memset", "memcpy", "memmove", "sin", "cos", "exp", "_GLOBAL_OFFSET_TABLE_"}, undefined


def deterministic(arguments):
    """The compiler, run again, writes the same object, header and dumps."""
    with tempfile.TemporaryDirectory() as again:
        run(os.path.join(arguments.build, "tiny_compile"), "--out=" + again, "--stages")
        for name in sorted(os.listdir(again)):
            assert read(os.path.join(again, name)) == read(os.path.join(arguments.build, name)), f"{name} differs from the first compilation's"


def continued(arguments):
    """Any dump, continued in a process that knows no model, gives the same object and header."""
    with tempfile.TemporaryDirectory() as folder:
        for dump in dumps(arguments.build):
            made = os.path.join(folder, "tiny.o")
            run(arguments.burin_opt, dump, "--to-stage", "object", "-o", made)
            assert read(made) == read(os.path.join(arguments.build, "tiny.o")), f"the object continued from {dump} differs"
            assert read(made[:-1] + "h") == read(os.path.join(arguments.build, "tiny.h")), f"the header continued from {dump} differs"


def edited(arguments):
    """What a hand changes in a dump, the program computes: the first loss of a training program follows the edit."""
    fused = read(dumps(arguments.build)[1]).decode()

    def first_loss(text):
        with tempfile.TemporaryDirectory() as folder:
            dump, made, program = (os.path.join(folder, name) for name in ("in.mlir", "tiny.o", "train"))
            with open(dump, "w", encoding="utf-8") as file:
                file.write(text)
            run(arguments.burin_opt, dump, "--to-stage", "object", "-o", made)
            main = os.path.join(folder, "train.o")
            run("cc", "-std=c99", "-O1", "-I", folder, "-I", arguments.include, "-c", arguments.train, "-o", main)
            run("c++", main, made, arguments.runtime, "-lfmt", "-fopenmp", "-lm", "-o", program)
            # It may well learn no longer; its first loss is what counts.
            result = subprocess.run([program], capture_output=True, text=True, check=False)
            assert re.fullmatch(r"\S+ \S+\n", result.stdout), result.stderr
            return float(result.stdout.split()[0])

    before = first_loss(fused)
    assert first_loss(fused) == before
    epsilon, count = re.subn(r"\beps 1\.0+e-0?5\b|\beps 9\.99\d*e-0?6\b", "eps 1.0e+01", fused)
    assert count, "the dump has no epsilon"
    assert abs(first_loss(epsilon) - before) > 1e-3, "a larger epsilon changed nothing"
    # A normalisation is removed: whoever read its result reads its input.
    removed, count = re.subn(r"(?m)^\s*(%\S+) = burin\.rms_norm (%[\w.#-]+),.*\n", lambda found: f"REPLACE {found[1]} {found[2]}\n", fused)
    assert count, "the dump has no rms_norm"
    names, kept = {}, []
    for line in removed.splitlines():
        if line.startswith("REPLACE "):
            _, name, by = line.split()
            names[name] = names.get(by, by)
            continue
        if re.match(r"\s*func\.func", line):
            names = {}
        kept.append(re.sub(r"%[\w.#-]+", lambda found: names.get(found[0], found[0]), line))
    assert abs(first_loss("\n".join(kept)) - before) > 1e-3, "removing the normalisations changed nothing"


def elsewhere(arguments):
    """A program for a CPU that the machine lacks says so in one line."""
    result = subprocess.run([arguments.program, "bench"], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        print("this machine has what the program needs")
        sys.exit(77)
    assert result.returncode == 1, result
    assert re.fullmatch(r"error: [^\n]*(amx|avx512)[^\n]*\n", result.stderr), result.stderr


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=["symbols", "deterministic", "continued", "edited", "elsewhere"])
    for option in ("build", "burin-opt", "runtime", "train", "include", "program"):
        parser.add_argument("--" + option)
    globals()[parser.parse_args().check](parser.parse_args())
