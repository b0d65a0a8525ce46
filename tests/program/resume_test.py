"""The program of the course's model, interrupted: what was saved goes on as if nothing had happened."""
import json
import os
import re
import signal
import time
import unittest

from support import COURSE, ProgramTest, log_lines, read

STEPS = 6


def checkpoint(out):
    return os.path.join(out, "checkpoint.safetensors")


def saved_step(out):
    """Of the run's state in a checkpoint's metadata, read as safetensors are: a length, then JSON."""
    content = read(checkpoint(out))
    header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
    return json.loads(header["__metadata__"]["run"])["state"]["step"]


class ResumeTest(ProgramTest):
    def whole(self):
        """The run that nobody interrupts, up to its summary."""
        return self.train(COURSE, "whole", "--eval-every", "3", "--save-every", "1", steps=STEPS)

    def arguments(self, out, save_every=1):
        return [COURSE, "train", "--data", self.data, "--out", out, "--steps", str(STEPS), "--eval-every", "3", "--save-every", str(save_every),
                "--print-every", "1", "--threads", "1"]

    def resume(self, out, *options):
        self.succeed(COURSE, "train", "--resume", "--out", out, *options)

    def expect_same(self, out, whole):
        self.assertEqual(log_lines(out), log_lines(whole))
        self.assertTrue(read(checkpoint(out)) == read(checkpoint(whole)), "the checkpoints differ")

    def wait_for(self, process, said):
        for line in process.stdout:
            if said in line:
                return
        self.fail(f"the program ended before it said '{said}': {process.stderr.read()}")

    def test_a_resumed_run_is_the_uninterrupted_run_to_the_byte(self):
        parts = self.train(COURSE, "parts", "--eval-every", "3", "--save-every", "1", steps=STEPS, stop_after=2)
        self.resume(parts, "--stop-after", "5", "--threads", "2")
        self.resume(parts, "--threads", "1")
        self.expect_same(parts, self.whole())

    def test_ctrl_c_finishes_the_step_then_saves_and_exits_with_130(self):
        out = self.path("stopped")
        process = self.start(*self.arguments(out, save_every=0))
        self.wait_for(process, f"step 2/{STEPS}")
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate()
        self.assertEqual(process.returncode, 130, errors)
        step = re.search(r"stopped after step (\d+); \S+ continues with --resume\n\Z", said)
        self.assertTrue(step, said)
        self.assertEqual(saved_step(out), int(step[1]))
        self.resume(out, "--stop-after", str(saved_step(out) + 1), "--threads", "1")
        self.assertEqual([line["step"] for line in log_lines(out) if line["event"] == "step"], list(range(1, saved_step(out) + 1)))

    def test_killed_at_any_moment_a_run_leaves_a_checkpoint_that_continues_to_the_same_bytes(self):
        out = self.path("killed")
        process = self.start(*self.arguments(out))
        self.wait_for(process, f"step 1/{STEPS}")  # step 2 waits for its checkpoint of step 1
        self.wait_for(process, f"step 2/{STEPS}")
        for kill in range(4):
            time.sleep(0.04 * kill)
            process.kill()
            process.communicate()
            self.assertGreaterEqual(saved_step(out), 1)
            self.succeed(COURSE, "eval", "--data", self.data, "--checkpoint", checkpoint(out), "--threads", "1")
            process = self.start(COURSE, "train", "--resume", "--out", out, "--print-every", "1", "--threads", "1")
            self.wait_for(process, f"step {saved_step(out) + 1}/{STEPS}")
        process.communicate()
        self.expect_same(out, self.whole())


if __name__ == "__main__":
    unittest.main()
