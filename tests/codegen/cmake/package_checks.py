#!/usr/bin/env python3
"""Checks on Burin as a package: find_package from another project, and the messages of burin_add_model and of the compiler."""
import argparse
import os
import re
import subprocess
import tempfile


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    return result.stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def own_project(arguments):
    """cmake --install, then four lines of CMake beside a model's source make its program; places are told relative to that project."""
    with tempfile.TemporaryDirectory() as folder:
        installed, project = os.path.join(folder, "installed"), os.path.join(folder, "project")
        run("cmake", "--install", arguments.build, "--prefix", installed)
        with open(arguments.source, encoding="utf-8") as file:
            write(os.path.join(project, "sub", "tiny.cpp"), file.read())
        write(os.path.join(project, "CMakeLists.txt"),
              "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES C CXX)\nfind_package(Burin REQUIRED)\n"
              "burin_add_model(tiny SOURCE sub/tiny.cpp BATCH 2 LENGTH 8 CPU x86-64-v3 STAGES)\n")
        run("cmake", "-S", project, "-B", os.path.join(project, "build"), "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + installed)
        run("cmake", "--build", os.path.join(project, "build"))
        info = run(os.path.join(project, "build", "tiny"), "info", "--json")
        assert re.search(r'"parameters"', info), info
        with open(os.path.join(project, "build", "tiny.1-imported.mlir"), encoding="utf-8") as file:
            dump = file.read()
        assert '"sub/tiny.cpp":' in dump and '"dsl/nn/' in dump, "the dump does not tell places of the project and of the layers"
        assert folder not in dump, "the dump names a folder of this machine"


def refusals(arguments):
    """Each wrong call of burin_add_model stops the configuration with its sentence."""
    calls = {
        "m BATCH 2 LENGTH 8": r"burin_add_model\(m\): SOURCE is missing",
        "m SOURCE m.cpp LENGTH 8": r"burin_add_model\(m\): BATCH is missing",
        "m SOURCE m.cpp BATCH 2 LENGTH 8 FAST": r"unknown argument 'FAST'",
        "a-b SOURCE m.cpp BATCH 2 LENGTH 8": r"the name must be a C name",
        "m SOURCE m.cpp BATCH 0 LENGTH 8": r"BATCH must be a positive number, not '0'",
        "m SOURCE m.cpp BATCH 2 LENGTH x": r"LENGTH must be a positive number, not 'x'",
        "m SOURCE m.cpp BATCH 2 LENGTH 8 DTYPE f16": r"DTYPE must be f32 or bf16, not 'f16'",
        "m SOURCE none.cpp BATCH 2 LENGTH 8": r"there is no source '[^']*none.cpp'",
    }
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(folder, "m.cpp"), "")
        for call, expected in calls.items():
            write(os.path.join(folder, "CMakeLists.txt"),
                  f"cmake_minimum_required(VERSION 3.25)\nproject(m LANGUAGES NONE)\ninclude({arguments.module})\nburin_add_model({call})\n")
            result = subprocess.run(["cmake", "-S", folder, "-B", os.path.join(folder, "build")], capture_output=True, text=True, check=False)
            said = re.sub(r"\s+", " ", result.stderr)
            assert result.returncode != 0 and re.search(expected, said), f"{call}\n{result.stderr}"


def command_line(arguments):
    """What the compiler refuses, it refuses in one line, and it leaves no object."""
    calls = {
        ("--cpu=pentium5",): r"error: unknown CPU 'pentium5': expected native, .*\n",
        ("--target=cuda",): r"error: unknown target 'cuda': expected nvptx, nvptx:sm_80 or nvptx:sm_90a; --cpu names a CPU\n",
        ("--target=nvptx:sm_12",): r"error: unknown target 'nvptx:sm_12': expected nvptx .*\n",
        ("--target=nvptx", "--cpu=pentium5"): r"error: unknown CPU 'pentium5': expected native, .*\n",
        ("--cpu=nvptx",): r"error: unknown CPU 'nvptx': --target names a GPU\n",
        ("--target=",): r"error: --target needs a value: TARGET\n",
        ("--model=none",): r"error: no model 'none': the source has tiny\n",
        ("--batch=0",): r"error: --batch and --length must be at least 1; they are 0 and 8\n",
        ("--dtype=f16",): r"error: --dtype takes f32 or bf16, not 'f16'\n",
        ("--stop-after=fuse",): r"error: there is no stage 'fuse'; the stages are graph imported fused [a-z ]*native object\n",
        ("--without=burin-none",): r"error: no stage runs a pass 'burin-none'\n",
        ("--fast",): r"error: unknown option '--fast'; --help lists them\n",
        ("fast",): r"error: unknown option 'fast'; --help lists them\n",
        ("--batch=two",): r"error: --batch takes a number, not 'two'\n",
        ("--stages=yes",): r"error: --stages takes no value\n",
        ("--without",): r"error: --without needs a value: PASS\n",
        ("--out=/dev/null/x",): r"error: cannot create '/dev/null/x': .*\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for call, expected in calls.items():
            result = subprocess.run([arguments.compiler, "--out=" + folder, *call], capture_output=True, text=True, check=False)
            assert result.returncode == 1 and re.fullmatch(expected, result.stderr), f"{call}\n{result}"
            assert not os.listdir(folder), f"{call} left {os.listdir(folder)}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=["own_project", "refusals", "command_line"])
    for option in ("build", "source", "module", "compiler"):
        parser.add_argument("--" + option)
    globals()[parser.parse_args().check](parser.parse_args())
