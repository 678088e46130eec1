# SPDX-License-Identifier: BSD-3-Clause
"""A model's parameters as Keras stores them, and a map: the same numbers to the bit."""
import io
import zipfile

import h5py
import numpy as np

import program
from program import BAD_INPUT, DONE, FIXTURES

FOLDER = FIXTURES / "mlp-spirals-gelu"
PROBLEM = FOLDER / "problem.toml"

# A Dense layer's kernel is (in, out).
MAPS = {
    "keras3": '''[map]
"layers.0.weight" = { name = "layers/dense/vars/0", transpose = true }
"layers.0.bias" = "layers/dense/vars/1"
"layers.1.weight" = { name = "layers/dense_1/vars/0", transpose = true }
"layers.1.bias" = "layers/dense_1/vars/1"
''',
    "legacy": '''key = "model_weights"
[map]
"layers.0.weight" = { name = "dense/dense/kernel:0", transpose = true }
"layers.0.bias" = "dense/dense/bias:0"
"layers.1.weight" = { name = "dense_1/dense_1/kernel:0", transpose = true }
"layers.1.bias" = "dense_1/dense_1/bias:0"
''',
}


class Keras(program.Case):
    def setUp(self):
        super().setUp()
        weights = dict(np.load(FOLDER / "step-000200.npz"))
        kernels = [weights[f"layers.{i}.weight"].T.copy() for i in range(2)]
        biases = [weights[f"layers.{i}.bias"] for i in range(2)]
        content = io.BytesIO()
        with h5py.File(content, "w") as file:
            for layer, kernel, bias in zip(["dense", "dense_1"], kernels, biases):
                group = file.create_group(f"layers/{layer}/vars")
                group["0"], group["1"] = kernel, bias
        (self.folder / "m.weights.h5").write_bytes(content.getvalue())
        with zipfile.ZipFile(self.folder / "m.keras", "w") as archive:
            archive.writestr("metadata.json", "{}")
            archive.writestr("model.weights.h5", content.getvalue())
        with h5py.File(self.folder / "legacy.h5", "w") as file:
            for layer, kernel, bias in zip(["dense", "dense_1"], kernels, biases):
                group = file.create_group(f"model_weights/{layer}")
                group[f"{layer}/kernel:0"], group[f"{layer}/bias:0"] = kernel, bias
        for name, text in MAPS.items():
            (self.folder / f"{name}.toml").write_text(text)

    def condition_of(self, *arguments, output="out.h5"):
        done = self.run_program("analyze", *arguments, "--problem", PROBLEM, "--only", "condition", "-o", output)
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / output) as file:
            numbers = {}
            file.visititems(lambda name, item: numbers.update({name: item[()]})
                            if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" else None)
        return numbers

    def test_has_the_same_loss_and_curvature_to_the_bit(self):
        ours = self.condition_of(FOLDER / "step-000200.npz")
        self.assertTrue(any("loss" in name for name in ours), ours.keys())
        for path, names in [("m.weights.h5", "keras3"), ("m.keras", "keras3"), ("legacy.h5", "legacy")]:
            with self.subTest(path):
                theirs = self.condition_of(path, "--map", f"{names}.toml", output=f"{path}.out.h5")
                self.assertEqual(theirs.keys(), ours.keys())
                for name, value in ours.items():
                    np.testing.assert_array_equal(theirs[name], value, name)

    def test_is_refused_without_its_transposes(self):
        (self.folder / "map.toml").write_text(MAPS["keras3"].replace(", transpose = true", ""))
        done = self.run_program("analyze", "m.keras", "--map", "map.toml", "--problem", PROBLEM, "-o", "out.h5")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertIn("layers.0.weight", done.stderr)


if __name__ == "__main__":
    program.main()
