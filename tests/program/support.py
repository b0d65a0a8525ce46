"""What the tests of this folder share: programs of the build, texts to train on, logs, and objects linked by hand."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

with open(os.environ["BURIN_TEST_PATHS"], encoding="utf-8") as file:
    PATHS = json.load(file)
SMALL, COURSE = (os.path.join(PATHS["folder"], name) for name in ("small", "course"))


def text(size, seed=1):
    """English-looking bytes, the same everywhere: words drawn by a small generator."""
    words = "the of and to in a that he was it his for with as on had at by not but her she all from so one they no were if".split()
    drawn, length, state = [], 0, seed
    while length < size:
        state = (state * 1103515245 + 12345) % 2**31
        drawn.append(words[(state >> 16) % len(words)])
        length += len(drawn[-1]) + 1
    return " ".join(drawn)[:size]


def read(path):
    with open(path, "rb") as opened:
        return opened.read()


def log_lines(out):
    """The log of a run without what a clock or a place writes into it."""
    with open(os.path.join(out, "log.jsonl"), encoding="utf-8") as log:
        lines = [json.loads(line) for line in log]
    return [{name: value for name, value in line.items() if name not in ("ms", "tokens_per_s", "checkpoint")} for line in lines]


def losses_of(out):
    return [line["loss"] for line in log_lines(out) if line["event"] == "step"]


def edited(dump, mnemonic, scope, change):
    """A dump in which the lines of all ops of this kind and scope are what `change` makes of them; there is one in each of three entries."""
    locations = set(re.findall(rf'^(#loc\d+) = loc\("{re.escape(scope)}"\(', dump, re.MULTILINE))
    lines, count = [], 0
    for line in dump.splitlines():
        op = re.fullmatch(rf"\s*%\S+ = burin\.{mnemonic} .* loc\((#loc\d+)\)", line)
        if op and op[1] in locations:
            line = change(line)
            count += 1
        lines.append(line)
    assert count == 3, f"{count} ops '{mnemonic}' in '{scope}', not one for each of step, loss and logits"
    return "\n".join(lines) + "\n"


def removed(dump, mnemonic, scope, operand):
    """A dump without these ops: who read their result reads that operand of theirs."""
    def mark(line):
        result, *operands = re.findall(r"%[\w.#-]+", line)
        return f"removed {result} {operands[operand]}"

    names, lines = {}, []
    for line in edited(dump, mnemonic, scope, mark).splitlines():
        if re.match(r"\s*func\.func", line):
            names = {}
        line = re.sub(r"%[\w.#-]+", lambda name: names.get(name[0], name[0]), line)
        if line.startswith("removed "):
            _, result, operand_name = line.split()
            names[result] = operand_name
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


class ProgramTest(unittest.TestCase):
    """A folder for each test, and the ways to run things in it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="burin-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = self.write("text", text(20_000))

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as opened:
            opened.write(content)
        return self.path(name)

    def run_program(self, *command, file_size=None, **options):
        """Runs a command; `file_size` limits what it may write into one file, as a full disk does."""

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

        return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit if file_size else None,
                              errors="replace", **options)

    def succeed(self, *command, **options):
        result = self.run_program(*command, **options)
        self.assertEqual(result.returncode, 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}")
        return result

    def refuse(self, *command, code, says, **options):
        """One line on stderr that begins with `error: ` and matches `says`; nothing of ours went wrong."""
        result = self.run_program(*command, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, r"\Aerror: [^\n]*\n\Z")
        self.assertRegex(result.stderr, says)
        self.assertNotIn("internal error", result.stderr)
        return result

    def start(self, *command):
        """A program that goes on beside the test; its lines are read as they come."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace")

        def end():
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()

        self.addCleanup(end)
        return process

    def train(self, program, out, *options, steps=600, stop_after=None, threads=1):
        """`train` without its long end (validation and sample) where `stop_after` is given; one thread, for tests run beside each other."""
        stop = () if stop_after is None else ("--stop-after", str(stop_after))
        self.succeed(program, "train", "--data", self.data, "--out", self.path(out), "--steps", str(steps), *stop, *options, "--threads",
                     str(threads))
        return self.path(out)

    def losses(self, program, *options, steps=5):
        """Of a short run: what differs between two programs shows here."""
        out = tempfile.mkdtemp(dir=self.folder)
        return losses_of(self.train(program, out, "--constant-lr", *options, stop_after=steps))

    def compile_small(self, out, *options):
        """The object of a model of small.cpp, by the build's command line with other options behind it."""
        self.succeed(SMALL + "_compile", "--out=" + self.path(out), *options)
        return self.path(out, "small.o")

    def link_small(self, made):
        """The program around an object that exports small_model."""
        program = os.path.splitext(made)[0]
        self.succeed(PATHS["cxx"], PATHS["small_main"], made, *PATHS["libraries"], "-lfmt", "-lpcre2-8", "-fopenmp", "-lm", "-o", program)
        return program

    def fused_small(self):
        self.succeed(SMALL + "_compile", "--out=" + self.folder, "--stages", "--stop-after=fused")
        return read(self.path("small.2-fused.mlir")).decode()

    def continued(self, dump, *options):
        """The object that burin-opt makes of a dump, in a process that knows no model."""
        made = self.path("continued", "small.o")
        os.makedirs(os.path.dirname(made), exist_ok=True)
        self.succeed(PATHS["burin_opt"], dump, "--to-stage", "object", "-o", made, *options)
        return made
