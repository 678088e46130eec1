# SPDX-License-Identifier: BSD-3-Clause
"""A checkpoint with numbers that are not finite is said to be so, and harms no other."""
import json

import h5py
import numpy as np

import program
from program import BAD_INPUT, INCONCLUSIVE, PROBLEM, checkpoint, weights

NON_FINITE = 2


def spoiled(value):
    arrays = weights(500)
    arrays["layers.1.Q"][2, 3] = value
    return arrays


def variables_of(file):
    """Path: dataset of every variable whose first dimension is `checkpoint`."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and not item.attrs.get("CLASS") == b"DIMENSION_SCALE" \
                and not name.startswith("parameter_"):
            found[name] = item

    file.visititems(visit)
    return found


class NonFinite(program.Case):
    # What makes a checkpoint unusable: weights that are not finite, or finite ones whose loss is not.
    CASES = {
        "nan": spoiled(np.nan),
        "inf": spoiled(np.inf),
        "minus-inf": spoiled(-np.inf),
        "overflow": {name: 1e150 * value for name, value in weights(500).items()},
    }

    def test_is_recorded_and_leaves_the_others_bit_identical(self):
        good = [checkpoint(0), checkpoint(1000), checkpoint(1500)]
        self.analyze(*good, "--save-hessian", output="good.h5")
        for name, arrays in self.CASES.items():
            with self.subTest(case=name):
                bad = self.write_checkpoint(f"{name}-500.npz", arrays)
                done = self.analyze(good[0], bad, *good[1:], "--save-hessian", "--force", "--order", "given",
                                    expect=INCONCLUSIVE)
                self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
                self.assertIn(f"{name}-500.npz", done.stderr)
                self.assertIn("non_finite", done.stderr)
                with h5py.File(self.folder / "out.h5") as out, h5py.File(self.folder / "good.h5") as reference:
                    self.compare(out, reference)

    def compare(self, out, reference):
        self.assertEqual(out.attrs["complete"], 1)
        expected = {name: d for name, d in variables_of(reference).items() if not name.endswith("_status")}
        found = variables_of(out)
        numbers = {name for name in found if not name.endswith("_status")}
        self.assertEqual(numbers, set(expected))
        self.assertIn("hessian/matrix", found)
        for name, dataset in found.items():
            values = dataset[()]
            if name.endswith("_status"):
                self.assertEqual(values[1], NON_FINITE, name)
                continue
            np.testing.assert_array_equal(np.delete(values, 1, axis=0), expected[name][()], err_msg=name)
            if values.dtype == np.float64:
                self.assertTrue(np.isnan(values[1]).all(), name)
                self.assertIn(name + "_status", found)

    def test_shows_in_the_table_under_every_number(self):
        bad = self.write_checkpoint("bad.npz", self.CASES["nan"])
        done = self.analyze(checkpoint(500), bad, expect=INCONCLUSIVE)
        blocks = done.stdout.split("\n\n")
        self.assertEqual([block.split()[0] for block in blocks[:4]], ["/", "/hessian", "/spectrum", "/condition"])
        for block in blocks[:4]:
            header, good, missing = (line.split() for line in block.splitlines())
            self.assertEqual(len(good), len(header))
            self.assertEqual(missing, ["bad.npz"] + ["non_finite"] * (len(header) - 1))

    def test_is_null_with_a_status_in_json(self):
        bad = self.write_checkpoint("bad.npz", self.CASES["inf"])
        document = json.loads(self.analyze(bad, checkpoint(500), "--json", expect=INCONCLUSIVE).stdout)
        first, second = document["checkpoints"]
        self.assertEqual((first["status"], second["status"]), ("non_finite", "ok"))
        self.assertIsNone(first["loss"])
        self.assertIsNone(first["spectrum"]["num_negative"])
        self.assertEqual(first["condition"]["robust_diagonal_status"], "non_finite")
        self.assertEqual(len(document["warnings"]), 1)
        self.assertGreater(second["loss"], 0)

    def test_warnings_are_not_silenced(self):
        bad = self.write_checkpoint("bad.npz", self.CASES["nan"])
        done = self.analyze(bad, "--quiet", expect=INCONCLUSIVE)
        self.assertEqual(done.stdout, "")
        self.assertIn("bad.npz", done.stderr)

    def test_data_that_are_not_finite_are_refused(self):
        with np.load(program.DATA / "eval.npz") as file:
            data = {name: file[name] for name in file.files}
        data["target"][7] = np.nan
        np.savez(self.folder / "spoiled.npz", **data)
        problem = self.write_problem((str(program.DATA / "eval.npz"), "spoiled.npz"))
        self.refuses(BAD_INPUT, ["analyze", checkpoint(0), "--problem", problem, "-o", "out.h5"],
                     "spoiled.npz", "'target'", "sample 7", "finite", "nan")

    def test_a_plan_does_not_mind(self):
        bad = self.write_checkpoint("bad.npz", self.CASES["nan"])
        done = self.run_program("analyze", bad, "--problem", PROBLEM, "-o", "out.h5", "--dry-run")
        self.assertEqual(done.returncode, program.DONE, done.stderr)


if __name__ == "__main__":
    program.main()
