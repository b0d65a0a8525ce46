"""Bad input to the real program: one line that says what is wrong, a code that is not zero, and nothing lost."""
import os
import unittest

from support import COURSE, PATHS, ProgramTest, read


class InputTest(ProgramTest):
    def refuse_training(self, *options, code, says, program=COURSE, **more):
        return self.refuse(program, "train", "--data", self.data, "--out", self.path("run"), *options, code=code, says=says, **more)

    def trained(self):
        out = self.train(COURSE, "run", stop_after=1)
        return os.path.join(out, "checkpoint.safetensors")

    def expect_loads(self, checkpoint):
        self.succeed(COURSE, "eval", "--data", self.data, "--checkpoint", checkpoint, "--threads", "1")

    def test_data_that_cannot_be_trained_on(self):
        for size, says in (0, r"is empty: have 0 tokens, need \d+"), (100, r"too short: have \d+ tokens, need 129|have \d+.* need \d+"):
            with self.subTest(size=size):
                self.data = self.write("text", "x" * size)
                self.refuse_training(code=1, says=says)
                self.assertFalse(os.path.exists(self.path("run", "checkpoint.safetensors")))
        self.data = self.path("none")
        self.refuse_training(code=1, says="none: No such file or directory")

    def test_flags_that_make_no_run(self):
        for options, says in ((("--speed", "9"), "--speed"), (("--lr", "nan"), r"--lr is nan, but must lie in \(0, 10\]"),
                              (("--beta2", "1"), "--beta2 is 1, but must lie"), (("--clip", "nan"), "--clip is nan"),
                              (("--steps", "10", "--warmup", "11"), "--warmup is 11 steps, longer than the run of 10 steps")):
            with self.subTest(options=options):
                self.refuse_training(*options, code=2, says=says)
                self.assertFalse(os.path.exists(self.path("run")), "a refused run leaves no folder")

    def test_a_folder_that_cannot_be_written_is_found_before_training(self):
        self.write("file", "")
        result = self.refuse(COURSE, "train", "--data", self.data, "--out", self.path("file", "run"), code=1, says="file/run")
        self.assertEqual(result.stdout, "")

    def test_a_checkpoint_of_another_model_is_refused_and_kept(self):
        self.train(PATHS["cs336_no_norm"], "other", stop_after=1)
        foreign = self.path("other", "checkpoint.safetensors")
        before = read(foreign)
        self.refuse(COURSE, "train", "--resume", "--out", self.path("other"), code=1, says=r"checkpoint .*ln")
        self.refuse(COURSE, "eval", "--data", self.data, "--checkpoint", foreign, code=1, says=r"checkpoint .*ln")
        self.assertTrue(read(foreign) == before)

    def test_a_damaged_checkpoint_is_refused(self):
        checkpoint = self.trained()
        whole = read(checkpoint)
        for content, says in ((whole[:len(whole) // 2], "checkpoint|truncated"), (b"\xff" * 4096, ""), (b"", "")):
            with self.subTest(size=len(content)):
                with open(checkpoint, "wb") as file:
                    file.write(content)
                self.refuse(COURSE, "train", "--resume", "--out", self.path("run"), code=1, says="checkpoint.safetensors.*" + says)

    def test_a_full_disk_leaves_the_checkpoint_before(self):
        checkpoint = self.trained()
        before = read(checkpoint)
        result = self.run_program(COURSE, "train", "--resume", "--out", self.path("run"), "--stop-after", "3", "--threads", "1", file_size=len(before) // 2)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Aerror: cannot write \S+: File too large; what \S+ held before is untouched\n\Z")
        self.assertTrue(read(checkpoint) == before)
        self.assertNotIn("checkpoint.safetensors.tmp", os.listdir(self.path("run")))
        self.expect_loads(checkpoint)


if __name__ == "__main__":
    unittest.main()
