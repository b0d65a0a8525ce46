"""Dumps of whole models, read back: each goes on to the same object, and what a hand changes in one the program computes."""
import concurrent.futures
import os
import re
import unittest

from support import PATHS, SMALL, ProgramTest, edited, read, removed

STAGES = ["imported", "fused", "joint", "grouped", "planned", "tiled", "native"]


class StagesTest(ProgramTest):
    def test_every_dump_of_the_course_model_continues_to_the_bytes_of_the_build(self):
        self.succeed(PATHS["cs336"] + "_compile", "--out=" + self.folder, "--stages")
        built = os.path.splitext(PATHS["cs336"])[0]
        for suffix in (".o", ".h"):
            self.assertTrue(read(self.path("cs336" + suffix)) == read(built + suffix), f"a second compilation gives another {suffix}")

        def go_on(numbered):
            number, stage = numbered
            made = self.path(f"{stage}.o")
            self.succeed(PATHS["burin_opt"], self.path(f"cs336.{number}-{stage}.mlir"), "--to-stage", "object", "-o", made)
            self.assertTrue(read(made) == read(built + ".o"), f"the object continued from '{stage}' differs")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(go_on, enumerate(STAGES, start=1)))

    def expect_edit_is(self, variant, dump):
        """The edited dump's program trains as the model that was declared so; the untouched one's does not."""
        by_hand = self.losses(self.link_small(self.continued(self.write("edited.mlir", dump))))
        declared = self.losses(self.link_small(self.compile_small("declared", "--model=" + variant)))
        self.assertEqual(by_hand, declared)
        self.assertNotEqual(by_hand, self.losses(SMALL))

    def test_an_epsilon_changed_by_hand_is_the_epsilon_declared(self):
        self.expect_edit_is("small_final_eps", edited(self.fused_small(), "rms_norm", "ln_final",
                                                      lambda line: re.sub(r" eps \S+", " eps 5.0e-01", line)))

    def test_a_residual_sum_removed_by_hand_is_the_model_declared_without_it(self):
        self.expect_edit_is("small_no_residual", removed(self.fused_small(), "add", "mix", operand=1))


if __name__ == "__main__":
    unittest.main()
