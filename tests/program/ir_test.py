"""What the compiler tells of itself: the table of its stages, what it did not fuse and why, and that optional passes are optional."""
import os
import re
import unittest

from support import PATHS, SMALL, ProgramTest, edited, read


def line_of(marker):
    """The line of small.cpp that holds a text, as diagnostics name it."""
    with open(os.path.join(PATHS["source"], "tests/program/small.cpp"), encoding="utf-8") as source:
        numbers = [number for number, line in enumerate(source, start=1) if marker in line]
    assert len(numbers) == 1, f"'{marker}' stands in lines {numbers}"
    return f"tests/program/small.cpp:{numbers[0]}"


class IrTest(ProgramTest):
    def test_the_table_tells_of_every_stage_and_the_dumps_lie_beside(self):
        table = self.succeed(SMALL + "_compile", "--out=" + self.folder, "--stages", "--table").stdout
        rows = {row[0]: row for row in (line.split() for line in table.splitlines()) if len(row) == 7}
        number = 0
        for listed in re.findall(r"^(\w+): ", self.succeed(PATHS["burin_opt"], "--list-stages").stdout, re.MULTILINE):
            with self.subTest(stage=listed):
                number += 1
                _, ops, launches, kernels, bytes_, seconds, file = rows[listed]
                self.assertEqual(file, "small.o" if listed == "object" else f"small.{number}-{listed}.mlir")
                self.assertGreater(os.path.getsize(self.path(file)), 0)
                self.assertEqual(ops == "-", listed == "object")
                self.assertEqual(launches == "-", listed in ("imported", "fused", "joint", "object"))
                self.assertEqual(kernels == "-", listed not in ("tiled", "native"))
                self.assertEqual(bytes_ == "-", listed in ("imported", "fused", "joint", "grouped"))
                self.assertGreaterEqual(float(seconds), 0)
        self.assertEqual(rows["object"][4], str(os.path.getsize(self.path("small.o"))))
        # What each stage is about shows in its kinds of ops.
        for kind in ("attention ", "swiglu ", "group ", "launch ", "linalg.generic ", "llvm "):
            self.assertIn(kind, table)
        self.assertIn("token_embeddings", read(self.path("small.0-graph.txt")).decode())

    def test_what_is_not_fused_is_told_with_the_line_of_the_model(self):
        quiet = self.succeed(SMALL + "_compile", "--model=small_scores_read", "--out=" + self.folder, "--stop-after=fused")
        self.assertEqual(quiet.stderr, "")
        told = self.succeed(SMALL + "_compile", "--model=small_scores_read", "--out=" + self.folder, "--stop-after=fused", "--remarks", "--table")
        line = re.escape(line_of("const Tensor weights = softmax"))
        remark = rf"{line}: attention not fused: the scores have a second reader; keeps \d[\d.]* [KM]?B"
        self.assertRegex(told.stderr, remark + "\n")
        self.assertRegex(told.stdout, remark + "\n")
        # The layers' own attention is fused; the remark is of the written one alone.
        self.assertEqual(told.stderr.count("attention not fused"), 1, told.stderr)

    def test_without_any_optional_pass_the_losses_stay_within_tolerance(self):
        expected = self.losses(SMALL)
        choices = ["--without=" + name for name in ("burin-fuse-attention", "burin-fuse-swiglu", "burin-fuse-linear-loss", "burin-recompute")]
        choices.append("--with=burin-fuse-linear-loss{always=true}")
        for choice in choices:
            with self.subTest(choice=choice):
                program = self.link_small(self.compile_small(re.sub(r"\W", "_", choice), choice))
                for step, (loss, other) in enumerate(zip(expected, self.losses(program), strict=True), start=1):
                    self.assertAlmostEqual(loss, other, delta=1e-4, msg=f"step {step}")

    def test_an_op_without_a_derivative_before_the_loss_is_an_error_with_its_line_and_path(self):
        # The op is foreign: each of ours has a derivative, or says that none passes through it.
        dump = self.write("foreign.mlir", edited(self.fused_small(), "add", "mix", lambda line: re.sub(r"burin\.add (.*), tensor\S+", r"arith.addf \1", line)))
        result = self.run_program(PATHS["burin_opt"], dump, "--to-stage", "object", "-o", self.path("foreign.o"))
        self.assertEqual(result.returncode, 1)
        line = re.escape(line_of("const Scope mix = "))
        self.assertRegex(result.stderr, rf"\A{line}:\d+: error: 'addf' has no derivative but lies between a parameter and the loss: "
                                        r"[\w.]+\.weight( -> \w+)* -> addf( -> \w+)* -> cross_entropy -> loss\n\Z")
        self.assertFalse(os.path.exists(self.path("foreign.o")))

    def test_a_shape_that_only_this_run_gets_wrong_is_told_with_line_and_numbers(self):
        self.succeed(SMALL + "_compile", "--model=small_pairs", "--out=" + self.folder, "--stop-after=imported")
        result = self.run_program(SMALL + "_compile", "--model=small_pairs", "--out=" + self.path("odd"), "--length=15")
        self.assertEqual(result.returncode, 1)
        line = re.escape(line_of("const Tensor pairs = "))
        self.assertRegex(result.stderr, rf"\A{line}:\d+: error: a reshape must keep the number of elements[^\n]*\[4, 15, 32\][^\n]*\[4, 7, 64\][^\n]*\n")
        self.assertFalse(os.path.exists(self.path("odd", "small.o")))


if __name__ == "__main__":
    unittest.main()
