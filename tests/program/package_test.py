"""The README's first screen, taken at its word: its model and its CMakeLists, in a folder of one's own, from an installed Burin."""
import os
import re
import unittest

from support import PATHS, ProgramTest, losses_of, read


def block(language, holds):
    """The README's code block in a language that holds a text."""
    text = read(os.path.join(PATHS["source"], "README.md")).decode()
    return next(body for body in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holds in body)


class PackageTest(ProgramTest):
    def test_the_model_of_the_readme_trains_from_a_folder_of_its_own(self):
        self.succeed("cmake", "--install", PATHS["build"], "--prefix", self.path("installed"))
        self.write("own/small.cpp", block("cpp", "BURIN_MODEL(small"))
        self.write("own/CMakeLists.txt", block("cmake", "find_package(Burin REQUIRED)"))
        self.succeed("cmake", "-S", self.path("own"), "-B", self.path("own/build"), "-G", "Ninja", "-DCMAKE_PREFIX_PATH=" + self.path("installed"))
        self.succeed("cmake", "--build", self.path("own/build"))
        program = self.path("own/build/small")
        losses = losses_of(self.train(program, "run", stop_after=3))
        self.assertEqual(len(losses), 3)
        self.assertTrue(4 < losses[0] < 7, losses)
        self.assertRegex(self.succeed(program, "info").stdout, r"small\.cpp:\d+")


if __name__ == "__main__":
    unittest.main()
