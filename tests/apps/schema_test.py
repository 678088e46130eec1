# SPDX-License-Identifier: BSD-3-Clause
"""Results of schema 1, which have a status next to every number and no coordinates in their groups, are still read."""
import csv
import json

import h5py
import numpy as np

import program
from program import DONE, FIXTURES, checkpoint

OLD = FIXTURES / "results-schema-1"


class Schema1(program.Case):
    def said_by(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""), arguments)
        return done.stdout

    def csv_of(self, result):
        self.said_by("export", result, "--format", "csv", "-o", "out.csv", "--force")
        with open(self.folder / "out.csv", newline="") as file:
            return {column[0]: column[1:] for column in zip(*csv.reader(file))}

    def test_is_of_that_schema(self):
        for name in ("analysis", "landscape", "history"):
            with h5py.File(OLD / f"{name}.h5") as file:
                self.assertEqual(file.attrs["hesscope_schema_version"], b"1.0.0")
                self.assertEqual(file["loss_status"].shape, file["loss"].shape)

    def test_is_inspected(self):
        for name, variable in (("analysis", "robust_eigenvalue"), ("landscape", "trajectory_alpha"),
                               ("history", "batch_loss")):
            self.assertIn(variable, self.said_by("inspect", OLD / f"{name}.h5"))

    def test_gives_every_figure(self):
        drawn = set()
        for name in ("analysis", "landscape", "history"):
            listed = json.loads(self.said_by("plot", OLD / f"{name}.h5", "--list", "--json"))
            for figure in listed["figures"]:
                if not figure["has_data"]:
                    continue
                self.said_by("plot", OLD / f"{name}.h5", "--figure", figure["name"], "-o", "figure.svg", "--force")
                self.assertIn("<svg", (self.folder / "figure.svg").read_text()[:300])
                drawn.add(figure["name"])
        self.assertEqual(drawn, {"condition", "blocks", "landscape", "history"})

    def test_hands_on_the_numbers_of_today(self):
        """Of the same checkpoints, results of both schemas give the same columns but for the statuses."""
        self.analyze(*(checkpoint(step) for step in (0, 500, 1500)), "--only", "condition,blocks")
        old, new = self.csv_of(OLD / "analysis.h5"), self.csv_of("out.h5")
        added = {"blocks/mean_js_distance_decades"}  # since the old one was written
        self.assertEqual({name for name in old if not name.endswith("_status")},
                         {name for name in new if not name.endswith("_status")} - added)
        for name in set(old) & set(new):
            if name == "checkpoint_file":
                continue
            try:
                found, wanted = np.array(new[name], float), np.array(old[name], float)
            except ValueError:
                self.assertEqual(new[name], old[name], name)
                continue
            np.testing.assert_allclose(found, wanted, rtol=1e-9, err_msg=name)
        # A status that is gone said nothing.
        gone = {name for name in old if name.endswith("_status")} - set(new)
        self.assertGreater(len(gone), 3)
        for name in gone:
            self.assertEqual(set(old[name]), {"0"}, name)
        self.assertEqual(new["condition/robust_eigenvalue_status"], ("4", "0", "0"))

    def test_hands_on_its_trajectory(self):
        for form, second in (("csv", "out-trajectory.csv"), ("vtk", "out-trajectory.vtk"),
                             ("losslandscape", "out_proj_lstsq.h5")):
            extension = second.rpartition(".")[2]
            self.said_by("export", OLD / "landscape.h5", "--format", form, "-o", f"out.{extension}")
            self.assertTrue((self.folder / second).exists(), second)


if __name__ == "__main__":
    program.main()
