"""The programs of models/ that train in seconds do what is said of them: a line, a curve, a text of three sentences."""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAMS = os.environ["BURIN_MODELS"]
OWN_PROGRAMS = os.environ["BURIN_OWN_MODELS"]  # of this folder
SENTENCES = "the red hen runs over the field.\na cat sleeps on the mat.\nbirds sing at dawn.\n"


class ModelTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="burin-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.checkpoint = os.path.join(self.folder, "run", "checkpoint.safetensors")

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(content)
        return file.name

    def run_program(self, name, *arguments, code=0):
        result = subprocess.run([os.path.join(PROGRAMS, name), *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def train(self, name, *options):
        self.run_program(name, "train", "--out", os.path.join(self.folder, "run"), *options)

    def log(self, event):
        with open(os.path.join(self.folder, "run", "log.jsonl"), encoding="utf-8") as file:
            return [line for line in map(json.loads, file) if line["event"] == event]

    def losses(self):
        return [line["loss"] for line in self.log("step")]

    def parameters(self):
        """Names to (offset in the file, numbers), of the scalars of a checkpoint."""
        with open(self.checkpoint, "rb") as file:
            content = file.read()
        size = struct.unpack("<Q", content[:8])[0]
        header = json.loads(content[8 : 8 + size])
        found = {}
        for name, tensor in header.items():
            if name != "__metadata__":
                begin, end = (8 + size + offset for offset in tensor["data_offsets"])
                found[name] = (begin, struct.unpack(f"<{(end - begin) // 4}f", content[begin:end]))
        return found


class LineTest(ModelTest):
    OPTIONS = ("--valid-fraction", "0", "--weight-decay", "0", "--lr", "0.03", "--min-lr", "0", "--steps", "1000")

    def test_three_points_give_the_line_through_them(self):
        self.train("line", "--data", self.write("points", "1,3\n2,5\n3,7\n"), *self.OPTIONS)
        found = self.parameters()
        self.assertAlmostEqual(found["out.weight"][1][0], 2, delta=1e-3)
        self.assertAlmostEqual(found["out.bias"][1][0], 1, delta=1e-3)

    def test_predictions_that_are_one_off_have_a_mean_squared_error_of_exactly_one(self):
        points = self.write("points", "1,3\n2,5\n3,7\n")
        self.train("line", "--data", points, *self.OPTIONS[:-1], "1")
        with open(self.checkpoint, "r+b") as file:  # 2, 4, 6
            for name, value in (("out.weight", 2), ("out.bias", 0)):
                file.seek(self.parameters()[name][0])
                file.write(struct.pack("<f", value))
        result = json.loads(self.run_program("line", "eval", "--checkpoint", self.checkpoint, "--part", "all", "--json"))
        self.assertEqual(result, {"model": "line", "loss": 1.0, "points": 3})

    def test_what_is_no_point_is_named(self):
        path = self.write("points", "1,3\n2;5\n")
        error = self.run_program("line", "train", "--data", path, "--out", os.path.join(self.folder, "run"), code=1)
        self.assertEqual(error, f"error: data file {path}:2: expected two finite numbers, x,y, found '2;5'\n")


class CurveTest(ModelTest):
    OPTIONS = ("--steps", "800", "--lr", "3e-3")

    def test_the_curve_is_learnt_and_validation_follows_where_the_parts_are_alike(self):
        self.train("mlp", *self.OPTIONS, "--split", "random")
        last = self.losses()[-50:]
        self.assertLess(sum(last) / len(last), 0.01)
        self.assertLess(self.log("end")[0]["valid_loss"], 0.01)

    def test_beyond_the_points_it_was_trained_on_the_curve_is_not_known(self):
        self.train("mlp", *self.OPTIONS)
        last = self.losses()[-50:]
        self.assertLess(sum(last) / len(last), 0.01)
        self.assertGreater(self.log("end")[0]["valid_loss"], 0.05)

    def test_plot_draws_every_point_and_the_curve(self):
        self.train("mlp", "--steps", "5")
        picture = self.run_program("mlp", "plot", "--checkpoint", self.checkpoint).strip()
        self.assertEqual(picture, os.path.join(self.folder, "run", "plot.svg"))
        root = xml.etree.ElementTree.parse(picture).getroot()
        names = [element.tag.rsplit("}", 1)[-1] for element in root.iter()]
        self.assertEqual(names.count("circle"), 2048)
        curve = [element for element in root.iter() if element.get("fill") == "none"]
        self.assertEqual(len(curve), 1)
        self.assertEqual(curve[0].get("d").count("L"), 400)

    def test_what_is_counted_are_points(self):
        for said in (
            self.run_program("mlp", "train", "--out", os.path.join(self.folder, "run"), "--steps", "10"),
            self.run_program("mlp", "bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01"),
        ):
            self.assertIn(" points/s ", said)
            self.assertNotIn("token", said)

    def test_a_resumed_run_ends_as_one_that_was_not_interrupted(self):
        self.train("mlp", "--steps", "20")
        with open(self.checkpoint, "rb") as file:
            whole = file.read()
        self.train("mlp", "--steps", "20", "--stop-after", "7")
        self.train("mlp", "--resume")
        with open(self.checkpoint, "rb") as file:
            self.assertTrue(whole == file.read())


class TinyGptTest(ModelTest):
    def test_three_sentences_are_learnt_by_heart(self):
        text = self.write("text", SENTENCES * 40)
        self.assertEqual(len(set(SENTENCES)), 23)
        self.train("tiny_gpt", "--data", text, "--steps", "300", "--lr", "3e-3", "--constant-lr")
        losses = self.losses()
        self.assertTrue(3.0 < losses[0] < 3.7, losses[0])
        self.assertLess(losses[-1], 0.15)
        said = self.run_program("tiny_gpt", "generate", "--checkpoint", self.checkpoint, "--count", "160", "--temperature", "0.1")
        whole = said.strip("\n").split("\n")[:-1]
        self.assertTrue(whole and set(whole) <= set(SENTENCES.split("\n")), said)

    def test_more_characters_than_ids_are_refused_with_both_numbers(self):
        path = self.write("text", SENTENCES * 3 + "Q")
        error = self.run_program("tiny_gpt", "train", "--data", path, "--out", os.path.join(self.folder, "run"), code=1)
        self.assertEqual(error, f"error: data file {path} has 24 different characters, but the model's vocabulary has room for 23\n")


class DropoutTest(ModelTest):
    """Masks depend on the seed, the step and the place of an element, and on nothing else."""

    def losses_of(self, program, *options):
        text = self.write("text", SENTENCES * 40)
        self.train(os.path.join(OWN_PROGRAMS, program), "--data", text, "--steps", "3", *options)
        return self.losses()

    def test_it_does_not_matter_how_a_step_is_cut(self):
        whole, parts = self.losses_of("dropout_8"), self.losses_of("dropout_2", "--accumulate", "4")
        for one, other in zip(whole, parts, strict=True):
            self.assertAlmostEqual(one, other, delta=2e-5)

    def test_nor_how_many_threads_there_are(self):
        checkpoints = set()
        for threads in "123":
            self.losses_of("dropout_8", "--threads", threads)
            with open(self.checkpoint, "rb") as file:
                checkpoints.add(file.read())
        self.assertEqual(len(checkpoints), 1)

    def test_another_seed_and_another_step_have_other_masks(self):
        first = self.losses_of("dropout_8", "--fixed-batch", "--lr", "1e-9")
        self.assertGreater(abs(first[0] - first[1]), 1e-4, "the weights and the batch are the same, the masks must not be")

    def test_validation_runs_without_it(self):
        text = self.write("text", SENTENCES * 40)
        program = os.path.join(OWN_PROGRAMS, "dropout_8")
        self.losses_of("dropout_8")
        at_end = self.log("end")[0]["valid_loss"]
        again = json.loads(self.run_program(program, "eval", "--data", text, "--checkpoint", self.checkpoint, "--json"))
        self.assertEqual(again["loss"], at_end)


class PaddedTest(ModelTest):
    """A program tells a model that asks for it what is padding; a text's windows have none but behind the text's end."""

    def test_a_text_without_padding_is_learnt_as_if_nobody_had_asked(self):
        text = self.write("text", SENTENCES * 40)
        runs = []
        for name in ("padded", "whole"):
            program = os.path.join(OWN_PROGRAMS, name)
            self.train(program, "--data", text, "--steps", "30", "--lr", "3e-3")
            said = self.run_program(program, "generate", "--checkpoint", self.checkpoint, "--count", "40", "--temperature", "0")
            runs.append((*self.losses(), self.log("end")[0]["valid_loss"], said))
        for one, other in zip(*runs, strict=True):
            if isinstance(one, str):
                self.assertEqual(one, other)
            else:
                self.assertAlmostEqual(one, other, delta=2e-5)


if __name__ == "__main__":
    unittest.main()
