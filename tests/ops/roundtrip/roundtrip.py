#!/usr/bin/env python3
"""Round trip of every op's example: each `mlir` block in a .td becomes a function, burin-opt prints it, reads that and prints it again.

Both prints must be equal, and the example must read as burin-opt writes it, names of values aside: what the descriptions show is what
users meet. Every op that passes/ops/ops.td includes must have an example that is one op.

usage: roundtrip.py BURIN_OPT SOURCE_ROOT
"""
import itertools
import pathlib
import re
import subprocess
import sys


def examples(td):
    """The op's mnemonic and the lines of its example, for each block in the file that shows an op of the dialect on tensors."""
    for block in re.findall(r"```mlir\n(.*?)```", td.read_text(), re.S):
        lines = block.rstrip().split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        lines = [line[indent:] for line in lines]
        op = re.match(r"%.* = burin\.(\w+)", lines[0])
        if op:
            yield op[1], lines


def split_types(text):
    """Types separated by commas outside of any brackets."""
    depth, start = 0, 0
    for i, c in enumerate(text + ","):
        if c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
        depth += (c in "<([") - (c in ">)]" and text[i - 1] != "-")


def function(name, lines):
    """The example as the body of a function whose arguments are the op's operands."""
    first = lines[0]
    left, right = first.split(" = ", 1)
    op, types = right.split(" : ", 1) if " : " in right else (right, "")
    operands = re.findall(r"%\w+", op)
    if types.startswith("("):
        types = types[1 : types.index(")")]
    elif " -> " in types:
        types = types[: types.index(" -> ")]
    arguments = [f"{operand}: {type}" for operand, type in zip(operands, split_types(types))]
    if len(arguments) != len(operands):
        raise SystemExit(f"{name}: as many types as operands expected in: {first}")
    body = "\n".join("  " + line for line in lines)
    return f"func.func private @example_{name}({', '.join(arguments)}) {{\n{body}\n  return\n}}\n"


def normalised(text):
    """Values numbered in order of definition, so that only structure counts; sibling regions may use a name twice."""
    names, counter = {}, itertools.count()

    def define(match):
        names[match[0]] = f"%{next(counter)}"
        return match[0]

    lines = []
    for line in text.strip().split("\n"):
        head = re.match(r"\s*(%[\w, %:]* = |\^\w+\(.*\):)?", line)[0]
        used = re.sub(r"%\w+", lambda match: names.get(match[0], match[0]), line[len(head) :])
        re.sub(r"%\w+", define, head)
        lines.append(" ".join((re.sub(r"%\w+", lambda match: names[match[0]], head) + used).split()))
    return lines


def run(tool, text):
    result = subprocess.run([tool, "-"], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{result.stderr}\nwhile reading:\n{text}")
    return result.stdout


def body_of(name, printed):
    lines = printed.split("\n")
    start = next(i for i, line in enumerate(lines) if f"@example_{name}(" in line)
    end = next(i for i in range(start, len(lines)) if lines[i].strip() == "return")
    return "\n".join(lines[start + 1 : end])


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    listed = re.findall(r'^include "(passes/ops/(\w+)\.td)"$', (root / "passes/ops/ops.td").read_text(), re.M)
    found = {}
    for path in [root / path for path, _ in listed] + [root / "passes/ir/words.td"]:
        for op, lines in examples(path):
            found[f"{path.stem}_{op}"] = lines
    missing = [op for _, op in listed if f"{op}_{op}" not in found]
    if missing:
        raise SystemExit(f"no example in the description of {', '.join(missing)}")
    once = run(tool, "".join(function(name, lines) for name, lines in found.items()))
    twice = run(tool, once)
    if once != twice:
        raise SystemExit(f"printed once:\n{once}\nprinted again:\n{twice}")
    failures = 0
    for name, lines in found.items():
        # Names of operands and results differ, and so does how several results are written: only what follows counts.
        def comparable(text):
            first, *rest = text.strip("\n").split("\n")
            first = re.sub(r"%\w+", "%", first.split(" = ", 1)[1])
            return [" ".join(first.split())] + (normalised("\n".join(rest)) if rest else [])

        shown, printed = comparable("\n".join(lines)), comparable(body_of(name, once))
        if shown != printed:
            failures += 1
            print(f"{name}: the example reads\n  {shown}\nbut is printed\n  {printed}", file=sys.stderr)
    if failures:
        raise SystemExit(f"{failures} examples do not read as they are printed")
    print(f"{len(found)} examples")


main()
