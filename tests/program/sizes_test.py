"""What depth costs the compiler: nothing in kernels, little in time and bytes."""
import os
import re
import resource
import unittest

from support import PATHS, SMALL, ProgramTest, read


class SizesTest(ProgramTest):
    def compile_timed(self, command, *options):
        """CPU seconds of a compilation, which other work on the machine hardly changes, as it does a clock's."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.succeed(command, *options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def kernels(self, tiled):
        """What each kernel does, by its name: the function's text without name and places."""
        text = re.sub(r' loc\((?:#loc\d*|"[^"]*"\(#loc\d+\))\)', "", read(tiled).decode())
        return dict(re.findall(r"^  func\.func @(\w+)(\([^\n]*\) attributes {[^\n]*burin\.kernel.*?)^  }$", text, re.MULTILINE | re.DOTALL))

    def test_48_layers_have_the_kernels_of_2_and_cost_little_more(self):
        seconds, sizes, kernels = {}, {}, {}
        for model, layers in ("small", 2), ("small_deep", 48):
            folder = self.path(model)
            seconds[layers] = self.compile_timed(SMALL + "_compile", "--model=" + model, "--out=" + folder, "--stages")
            sizes[layers] = os.path.getsize(os.path.join(folder, "small.o"))
            kernels[layers] = self.kernels(os.path.join(folder, "small.6-tiled.mlir"))
            print(f"{layers} layers: {len(kernels[layers])} kernels, {seconds[layers]:.2f} s of CPU, {sizes[layers]} bytes of object")
        self.assertGreater(len(kernels[2]), 10)
        self.assertEqual(sorted(kernels[2]), sorted(kernels[48]))
        for layers, made in kernels.items():
            self.assertEqual(len(made), len(set(made.values())), f"a kernel of {layers} layers exists twice")
        # 46 more layers are launches and rows of tables.
        self.assertLess(sizes[48], 8 * sizes[2])
        self.assertLess(seconds[48], 4 * seconds[2])

    def test_the_course_model_becomes_an_object_in_15_seconds(self):
        seconds = self.compile_timed(PATHS["cs336"] + "_compile", "--out=" + self.folder)
        print(f"{seconds:.2f} s of CPU")
        self.assertLess(seconds, 15)


if __name__ == "__main__":
    unittest.main()
