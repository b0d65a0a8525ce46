#!/usr/bin/env python3
"""Checks the walls between the rooms (the README's map), so that they hold by more than agreement.

rooms.py ROOT                      checks a source tree; prints each violation as file:line: message
rooms.py ROOT --planted NAME       makes a small tree that breaks one rule, and passes when just that is found
rooms.py ROOT --program FILE       checks that a built program holds nothing of the compiler
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

SOURCES = (".h", ".cpp", ".c", ".td", ".inc.in")
ROOMS = ("dsl", "passes", "codegen", "runtime", "models")

# Which quoted or <...> includes a room may use, beside its own files and the standard library.
MAY_INCLUDE = {
    "dsl": r"$^",
    "runtime": r"fmt/|CLI/|nlohmann/|omp\.h$|burin_runtime\.h$",
    "passes": r"llvm/|mlir/|passes/|" + "DSL",
    "codegen": r"llvm/|llvm-c/|mlir/|passes/|codegen/|runtime/abi/|" + "DSL",
    "models": r"burin\.h$",
}
# System headers that are no part of C++ and yet no library either: files, processes, intrinsics.
SYSTEM = re.compile(r"(sys/|linux/)?[a-z0-9_]+\.h$")
STANDARD = re.compile(r"[a-z0-9_]+$")
SYSTEM_ROOMS = ("runtime", "codegen")

MACHINE_WORDS = re.compile(
    r"\b(x86\w*|avx\w*|sse\d\w*|neon|sve|amx\w*|[xyz]mm\d*|znver\d|zen ?\d|skylake|cuda|ptx|nvvm|rocdl|nvidia|tensor cores?|warps?|gpu|simd|openmp|pthread\w*)\b",
    re.IGNORECASE)

# Rooms of passes/ that see ops through interfaces alone, and the files among them that may build (never match) ops by name.
BLIND = ("import", "grad", "group", "plan", "tile")
BUILDERS = ("passes/grad/sums.cpp",)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sources(root, *folders):
    for folder in folders:
        for where, subfolders, files in os.walk(os.path.join(root, folder)):
            subfolders.sort()
            for name in sorted(files):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(where, name), root)


def lines(root, path):
    return enumerate(read(os.path.join(root, path)).splitlines(), start=1)


def code(line):
    """A line without its comment."""
    return re.sub(r"//.*|/\*.*?\*/", "", line)


def mnemonics(root):
    path = os.path.join(root, "passes/ops/ops.td")
    return re.findall(r'^include "passes/ops/(\w+)\.td"$', read(path), re.MULTILINE) if os.path.exists(path) else []


def class_name(mnemonic):
    return "".join(word.capitalize() for word in mnemonic.split("_")) + "Op"


def check_includes(root):
    for path in sources(root, *ROOMS):
        room = path.split("/")[0]
        allowed = MAY_INCLUDE[room]
        for number, line in lines(root, path):
            found = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
            if not found:
                continue
            target = found[2]
            beside = os.path.normpath(os.path.join(os.path.dirname(path), target))
            own = [beside, os.path.join(room, target)]
            if any(name.split("/")[0] == room and os.path.exists(os.path.join(root, name)) for name in own):
                continue
            if found[1] == "<" and (STANDARD.match(target) or (room in SYSTEM_ROOMS and SYSTEM.match(target))):
                continue
            dsl = allowed.endswith("DSL") and os.path.exists(os.path.join(root, "dsl", target))
            if dsl or re.match(allowed.replace("DSL", "$^"), target):
                continue
            yield f"{path}:{number}: {room}/ may not include '{target}'"


def check_passes_name_no_machine(root):
    for path in sources(root, "passes"):
        for number, line in lines(root, path):
            for word in MACHINE_WORDS.findall(line):
                yield f"{path}:{number}: passes/ names no machine, yet here is '{word}'"


def op_names(root):
    names = mnemonics(root)
    if not names:
        return None
    classes = "|".join(map(class_name, names))
    words = "|".join(names)
    # Upstream dialects have ops of the same names: memref::TransposeOp is none of ours.
    return re.compile(rf'(?:(?<!::)|(?<=burin::))\b({classes})\b|"burin\.({words})"|passes/ops/(?:{words})')


def check_codegen_names_no_op(root):
    names = op_names(root)
    for path in sources(root, "codegen") if names else ():
        if re.match(r"codegen/\w+/overrides/", path):
            continue
        for number, line in lines(root, path):
            for found in names.finditer(code(line)):
                yield f"{path}:{number}: codegen/ names no op, yet here is '{found[0]}'"


def check_blind_rooms(root):
    names = op_names(root)
    matching = re.compile(r"\b(isa|cast|dyn_cast\w*|getDefiningOp|OpRewritePattern|getOps)\s*<[^>]*\b\w+Op\b")
    for path in sources(root, *(f"passes/{room}" for room in BLIND)) if names else ():
        for number, line in lines(root, path):
            text = code(line)
            for found in names.finditer(text):
                if path in BUILDERS and not matching.search(text):
                    continue
                yield f"{path}:{number}: sees ops through interfaces alone, yet here is '{found[0]}'"


def check_ops_are_whole(root):
    """One op is its files: a definition, an implementation, a test, and a shape rule of its own or from the DSL."""
    for op in mnemonics(root):
        for path in (f"passes/ops/{op}.td", f"passes/ops/{op}.cpp", f"tests/ops/{op}_test.cpp"):
            if not os.path.exists(os.path.join(root, path)):
                yield f"passes/ops/ops.td:1: the op '{op}' lacks {path}"


def check_files_introduce_themselves(root):
    """Headers, and sources without one, open with a sentence; an op's definition has its summary instead."""
    for path in sources(root, *ROOMS):
        header = os.path.exists(os.path.join(root, re.sub(r"\.c(pp)?$", ".h", path))) and not path.endswith(".h")
        if header or (path.startswith("passes/ops/") and path.endswith(".td")):
            continue
        text = read(os.path.join(root, path))
        if text.strip() and not re.match(r"\s*(//|/\*|#pragma once\s*//)", text):
            yield f"{path}:1: a file opens with a sentence on what it is for"


CHECKS = {name[len("check_"):]: check for name, check in list(globals().items()) if name.startswith("check_")}


def violations(root):
    return [violation for check in CHECKS.values() for violation in check(root)]


# Each: the files of a small tree, below a first line of comment, and how the one violation in it begins. All else in it is allowed.
OPS_TD = {"passes/ops/ops.td": '// Ops.\ninclude "passes/ops/matmul.td"\n',
          "passes/ops/matmul.td": "// Matmul.\n",
          "passes/ops/matmul.cpp": "// Matmul.\n",
          "tests/ops/matmul_test.cpp": "// Matmul.\n"}
PLANTED = {
    "dsl_includes_llvm": ({"dsl/a.h": '#include <vector>\n#include "b.h"\n#include "llvm/ADT/Twine.h"\n', "dsl/b.h": ""}, "dsl/a.h:4: dsl/ may not"),
    "dsl_includes_system": ({"dsl/a.h": "#include <unistd.h>\n"}, "dsl/a.h:2: dsl/ may not"),
    "passes_includes_codegen": ({"passes/a.cpp": '#include "mlir/IR/Value.h"\n#include "codegen/compile.h"\n', "codegen/compile.h": ""}, "passes/a.cpp:3: passes/ may not"),
    "passes_includes_runtime": ({"passes/a.cpp": '#include "runtime/abi/burin.h"\n', "runtime/abi/burin.h": ""}, "passes/a.cpp:2: passes/ may not"),
    "codegen_includes_runtime": ({"codegen/a.cpp": '#include "runtime/abi/burin.h"\n#include "runtime/device/device.h"\n'}, "codegen/a.cpp:3: codegen/ may not"),
    "runtime_includes_dsl": ({"runtime/a.cpp": '#include <fmt/core.h>\n#include "core/shape.h"\n', "dsl/core/shape.h": ""}, "runtime/a.cpp:3: runtime/ may not"),
    "runtime_includes_llvm": ({"runtime/a.cpp": "#include <llvm/ADT/Twine.h>\n"}, "runtime/a.cpp:2: runtime/ may not"),
    "model_includes_passes": ({"models/a.cpp": '#include <burin.h>\n#include "passes/stages.h"\n'}, "models/a.cpp:3: models/ may not"),
    "passes_names_a_machine": ({"passes/tile/a.cpp": "// Tiles of 16 fit AVX512.\n"}, "passes/tile/a.cpp:2: passes/ names no machine"),
    "codegen_names_an_op": (OPS_TD | {"codegen/cpu/a.cpp": "// A MatmulOp in a comment is no use of it.\nisa<memref::TransposeOp>(op);\nisa<MatmulOp>(op);\n"}, "codegen/cpu/a.cpp:4: codegen/ names no op"),
    "codegen_spells_an_op": (OPS_TD | {"codegen/emit/a.cpp": 'name == "burin.matmul";\n'}, "codegen/emit/a.cpp:2: codegen/ names no op"),
    "plan_matches_an_op": (OPS_TD | {"passes/plan/a.cpp": "isa<burin::MatmulOp>(op);\n"}, "passes/plan/a.cpp:2: sees ops through interfaces"),
    "grad_matches_an_op": (OPS_TD | {"passes/grad/sums.cpp": "MatmulOp::create(b);\nauto m = dyn_cast<MatmulOp>(op);\n"}, "passes/grad/sums.cpp:3: sees ops through interfaces"),
    "op_without_test": ({name: text for name, text in OPS_TD.items() if "test" not in name}, "passes/ops/ops.td:1: the op 'matmul' lacks tests/ops"),
    "file_without_sentence": ({"runtime/a.cpp": "#include <vector>\n" + "int x;\n"}, "runtime/a.cpp:1: a file opens"),
}


def planted(name):
    files, expected = PLANTED[name]
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text if name == "file_without_sentence" else "// A sentence.\n" + text)
        found = violations(root)
    if len(found) == 1 and found[0].startswith(expected):
        return []
    return [f"expected one violation, '{expected}...', found {found}"]


def check_program(path):
    symbols = subprocess.run(["nm", "--demangle", path], capture_output=True, text=True, check=True).stdout
    libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    for text, what in ((symbols, "symbol"), (libraries, "library")):
        for line in text.splitlines():
            if re.search(r"\b(llvm|mlir|libLLVM|libMLIR)", line):
                yield f"{path}: the program holds the {what} '{line.strip()}'"
    if not re.search(r"\bmain$", symbols, re.MULTILINE):
        yield f"{path}: is no program with symbols, so nothing is known of it"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--planted", choices=PLANTED)
    parser.add_argument("--list", action="store_true", help="print the names of the planted violations")
    parser.add_argument("--program")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(PLANTED))
        return 0
    if arguments.planted:
        found = planted(arguments.planted)
    elif arguments.program:
        found = list(check_program(arguments.program))
    else:
        found = violations(arguments.root)
        if not any(True for _ in sources(arguments.root, *ROOMS)):
            found.append(f"{arguments.root} holds no sources")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
