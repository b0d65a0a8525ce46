"""One model, several CPUs: each instruction set gives the same losses, uses its own registers and no others."""
import re
import unittest

from support import PATHS, SMALL, ProgramTest

# What of a level decides whether it can run here, as the kernel names it.
NEEDS = {"x86-64": "sse2", "x86-64-v3": "avx2", "x86-64-v4": "avx512f"}


def machine_has(feature):
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return re.search(rf"^flags\s*:.*\b{feature}\b", info.read(), re.MULTILINE) is not None


class CpusTest(ProgramTest):
    def registers(self, made):
        """Which kinds of vector registers an object names; "evex" for those that only AVX-512 has: masks, and 16 to 31 of any width."""
        code = self.succeed(PATHS["objdump"], "--disassemble", made).stdout
        evex = {"evex"} if re.search(r"%(k[0-7]|[xyz]mm(1[6-9]|[23]\d))\b", code) else set()
        return set(re.findall(r"%([xyz]mm)\d", code)) | evex

    def test_every_level_trains_to_the_same_losses_with_its_own_registers(self):
        expected = self.losses(SMALL)
        widest = {"x86-64": {"xmm"}, "x86-64-v3": {"xmm", "ymm"}, "x86-64-v4": {"evex", "xmm", "ymm", "zmm"}}
        for cpu, registers in widest.items():
            with self.subTest(cpu=cpu):
                made = self.compile_small(cpu, "--cpu=" + cpu)
                found = self.registers(made)
                self.assertLessEqual(found, registers)
                self.assertLessEqual({max(registers)} | (registers & {"evex"}), found)
                if not machine_has(NEEDS[cpu]):
                    print(f"{cpu}: not run, this machine lacks {NEEDS[cpu]}")
                    continue
                for step, (loss, other) in enumerate(zip(expected, self.losses(self.link_small(made)), strict=True), start=1):
                    self.assertAlmostEqual(loss, other, delta=1e-4, msg=f"{cpu}, step {step}")

    def test_a_program_for_another_cpu_says_so_in_one_line_and_starts_nothing(self):
        if machine_has("amx_tile"):
            self.skipTest("this machine has what sapphirerapids has")
        program = self.link_small(self.compile_small("elsewhere", "--cpu=sapphirerapids"))
        result = self.refuse(program, "train", "--data", self.data, "--out", self.path("run"), code=1, says=r"sapphirerapids.*\bamx|amx.*sapphirerapids")
        self.assertEqual(result.stdout, "")
        self.assertIn("sapphirerapids", self.succeed(program, "info").stdout)


if __name__ == "__main__":
    unittest.main()
