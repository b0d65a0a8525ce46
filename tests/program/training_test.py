"""The program of the course's model trains: it can learn, threads change nothing, and it needs the memory that its header says."""
import os
import subprocess
import unittest

from support import COURSE, PATHS, ProgramTest, log_lines, losses_of, read, text


class TrainingTest(ProgramTest):
    def test_one_fixed_batch_is_learnt_by_heart_in_200_steps(self):
        out = self.train(COURSE, "run", "--fixed-batch", "--constant-lr", "--lr", "1e-3", stop_after=200, threads=2)
        losses = losses_of(out)
        self.assertEqual(len(losses), 200)
        self.assertTrue(5.4 < losses[0] < 6.6, f"the first loss is {losses[0]}")
        self.assertLess(losses[-1], 0.01)

    def test_checkpoint_and_log_are_the_same_bytes_on_1_and_2_and_3_threads_and_again(self):
        first = self.train(COURSE, "first", stop_after=4)
        for threads in (1, 2, 3):
            again = self.train(COURSE, f"again{threads}", stop_after=4, threads=threads)
            self.assertEqual(log_lines(again), log_lines(first))
            self.assertTrue(read(again + "/checkpoint.safetensors") == read(first + "/checkpoint.safetensors"),
                            f"another checkpoint on {threads} threads")

    def test_a_run_needs_the_memory_of_its_header_and_its_data_within_a_tenth(self):
        self.data = self.write("long", text(4_000_000))
        command = [PATHS["cs336"], "train", "--data", self.data, "--out", self.path("run"), "--stop-after", "3", "--threads", "2"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        promised = self.promised(os.path.splitext(PATHS["cs336"])[0] + ".h", threads=2) + os.path.getsize(self.data)
        resident = usage.ru_maxrss * 1024
        print(f"resident {resident / 1e6:.1f} MB, promised with the data {promised / 1e6:.1f} MB")
        self.assertLess(resident, 1.1 * promised)
        self.assertGreater(resident, 0.9 * promised, "the header promises more than is used")

    @staticmethod
    def promised(header, threads):
        """The sum of a header's constants that are bytes."""
        total = 0
        for line in read(header).decode().splitlines():
            words = line.replace("INT64_C(", "").replace(")", " ").split()
            if len(words) > 2 and words[0] == "#define" and words[1].endswith("_BYTES"):
                total += int(words[2]) * (threads if words[1].endswith("_SCRATCH_BYTES") else 1)
        return total


if __name__ == "__main__":
    unittest.main()
