# SPDX-License-Identifier: BSD-3-Clause
"""hesscope inspect: what is in a checkpoint, a data file or a result."""
import hashlib
import json

import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FIXTURES, USAGE, checkpoint


class Inspect(program.Case):
    def inspect(self, path, *options):
        done = self.run_program("inspect", path, *options)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        return done.stdout

    def document(self, path):
        return json.loads(self.inspect(path, "--json"))

    def test_a_checkpoint_in_npz(self):
        text = self.inspect(checkpoint(500))
        self.assertIn(hashlib.sha256(checkpoint(500).read_bytes()).hexdigest(), text)
        self.assertIn("npz", text)
        self.assertIn("150 numbers", text)
        for layer in range(3):
            for name in "PQ":
                self.assertRegex(text, rf"(?m)^layers\.{layer}\.{name}  \(5, 5\)  float64 ")

    def test_a_checkpoint_in_hdf5(self):
        document = self.document(FIXTURES / "linear-attention-s1-adam" / "step-000500.h5")
        self.assertEqual(document["format"], "hdf5")
        self.assertEqual({t["name"]: t["shape"] for t in document["tensors"]},
                         {name: list(v.shape) for name, v in program.weights(500).items()})

    def test_an_onnx_model_with_its_weights_beside_it(self):
        folder = FIXTURES / "onnx" / "mlp"
        document = self.document(folder / "model-external.onnx")
        self.assertEqual(document["format"], "onnx")
        state_dict = np.load(folder / "step-000120.npz")
        self.assertEqual([t["name"] for t in document["tensors"]], state_dict.files)
        for tensor in document["tensors"]:
            values = state_dict[tensor["name"]]
            self.assertEqual((tensor["shape"], tensor["min"], tensor["max"]),
                             (list(values.shape), float(values.min()), float(values.max())))
        # The digest is that of both files, as sha256sum prints it in their folder.
        lines = "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
                        for name in ("model-external.onnx", "model-external.onnx.data"))
        self.assertEqual(document["sha256"], hashlib.sha256(lines.encode()).hexdigest())

    def test_json_holds_the_tensors_and_their_ranges(self):
        arrays = {"a": np.array([[1.0, np.nan], [-3.0, 4.0]]), "b": np.float32([2.5, np.inf]), "c": np.zeros((0, 3))}
        document = self.document(self.write_checkpoint("mixed.npz", arrays))
        self.assertEqual((document["command"], document["kind"]), ("inspect", "tensors"))
        tensors = {t["name"]: t for t in document["tensors"]}
        self.assertEqual((tensors["a"]["min"], tensors["a"]["max"], tensors["a"]["nan"]), (-3.0, 4.0, 1))
        self.assertEqual((tensors["b"]["type"], tensors["b"]["min"], tensors["b"]["max"]), ("float32", 2.5, None))
        self.assertEqual(tensors["b"]["infinite"], 1)
        self.assertEqual((tensors["c"]["shape"], tensors["c"]["min"]), ([0, 3], None))
        self.assertEqual(document["elements"], 6)

    def test_a_data_file(self):
        self.assertRegex(self.inspect(DATA / "eval.npz"), r"(?m)^Z +\(256, 6, 21\) ")

    def test_a_result(self):
        self.analyze(checkpoint(500))
        text = self.inspect("out.h5")
        self.assertIn("hesscope result", text)
        for line in (r"^/spectrum$", r"^lambda_min +checkpoint=1 +float64  smallest eigenvalue of the Hessian$",
                     r"^eigenvalues +checkpoint=1, rank=150 +float64 ", r"^  complete: 1$",
                     r"^  history: 1970-01-01T00:00:00Z hesscope analyze "):
            self.assertRegex(text, "(?m)" + line)
        # Text is set flush left: every row of a group begins its columns where the heading does.
        header, *rows = text.split("\n/condition\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(len(rows), 5)  # the step and four numbers
        for column in ("dimensions", "type", "meaning"):
            at = header.index(column)
            for row in rows:
                self.assertTrue(row[at - 1] == " " and row[at] != " ", row)

    def test_one_group_of_a_result_with_all_of_its_text(self):
        self.analyze(checkpoint(500))
        long = self.inspect("out.h5")
        self.assertRegex(long, r"(?m)^  configuration: hesscope .* \.\.\.$")
        self.assertIn("--group NAME shows one group", long)
        root = self.inspect("out.h5", "--group", "/")
        self.assertRegex(root, r"(?m)^    model\.kind: linear-attention$")
        self.assertRegex(root, r"(?m)^    kind = 'linear-attention'$")
        self.assertNotIn("/spectrum", root.replace("--only spectrum", ""))
        self.assertEqual(self.inspect("out.h5", "--group", "spectrum"), self.inspect("out.h5", "--group", "/spectrum"))
        self.assertIn(self.inspect("out.h5", "--group", "spectrum").split("\n\n")[1], long)
        document = json.loads(self.inspect("out.h5", "--group", "/spectrum", "--json"))
        self.assertEqual([g["name"] for g in document["groups"]], ["spectrum"])
        self.refuses(USAGE, ["inspect", "out.h5", "--group", "spectra"], "did you mean '/spectrum'?")
        self.refuses(BAD_INPUT, ["inspect", checkpoint(0), "--group", "/"], "not a hesscope result", "--group")

    def test_a_result_in_json(self):
        self.analyze(checkpoint(500))
        document = self.document("out.h5")
        self.assertEqual(document["kind"], "result")
        groups = {g["name"]: g for g in document["groups"]}
        self.assertEqual(set(groups), {"", "hessian", "spectrum", "condition", "structure"})
        variables = {v["name"]: v for v in groups["hessian"]["variables"]}
        self.assertEqual(variables["diagonal"]["dimensions"], ["checkpoint", "parameter"])
        self.assertEqual(variables["diagonal"]["shape"], [1, 150])
        self.assertNotIn("diagonal_status", variables)
        variables = {v["name"]: v for v in groups["condition"]["variables"]}
        self.assertEqual(variables["classical_status"]["type"], "int8")
        self.assertIn("linear-attention", groups[""]["attributes"]["problem"])

    def test_names_a_file_of_a_folder(self):
        folder = self.folder / "runs"
        folder.mkdir()
        self.refuses(BAD_INPUT, ["inspect", "runs"], "runs: is a folder; a file is expected")
        (folder / "a").mkdir()
        for name in ("epoch_1.npz", "epoch_0.npz"):
            np.savez(folder / name, w=np.zeros(3))
        self.refuses(BAD_INPUT, ["inspect", "runs"], "runs: is a folder; a file is expected, such as epoch_0.npz in it")

    def test_refuses_what_it_does_not_know(self):
        (self.folder / "junk").write_text("nonsense")
        (self.folder / "cut.h5").write_bytes((FIXTURES / "signal-noise" / "step-000000.h5").read_bytes()[:1000])
        (self.folder / "empty").mkdir()
        for name in ("junk", "cut.h5", "nothere.npz", "empty"):
            for options in ([], ["--json"]):
                with self.subTest(name=name, options=options):
                    done = self.run_program("inspect", name, *options)
                    self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""))
                    self.assertRegex(done.stderr, rf"^hesscope inspect: {name}: .+\n$")

    def test_answers_for_every_file_it_can_read(self):
        whole = checkpoint(500).read_bytes()
        (self.folder / "cut.npz").write_bytes(whole[:-40])
        files = (checkpoint(0), "cut.npz", checkpoint(500), "nothere.npz")
        done = self.run_program("inspect", *files, "--json")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertRegex(done.stderr, r"^hesscope inspect: cut\.npz: .+\nhesscope inspect: nothere\.npz: .+\n$")
        answers = json.loads(done.stdout)["files"]
        self.assertEqual([answer["file"] for answer in answers], [str(file) for file in files])
        self.assertEqual(["error" in answer for answer in answers], [False, True, False, True])
        self.assertEqual(len(answers[2]["tensors"]), 6)
        self.assertIn("No such file", answers[3]["error"])
        done = self.run_program("inspect", *files)
        self.assertEqual((done.returncode, done.stdout.count("sha256 ")), (BAD_INPUT, 2))

    def test_quietly_says_only_whether_a_file_can_be_read(self):
        self.assertEqual(self.inspect(checkpoint(500), "--quiet"), "")
        whole = checkpoint(500).read_bytes()
        (self.folder / "cut.npz").write_bytes(whole[:-40])
        self.assertEqual(self.run_program("inspect", "cut.npz", "-q").returncode, BAD_INPUT)


if __name__ == "__main__":
    program.main()
