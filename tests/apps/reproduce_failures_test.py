# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: figures of runs that are not there, of what is there no more, and figures that fail."""
import json

import h5py

import program
from program import BAD_INPUT, DONE, INCONCLUSIVE, USAGE

HEAD = """
[experiment]
name = "tiny"
may_diverge = true
[model]
kind = "linear-attention"
layers = 1
[data]
kind = "linear-regression"
dimension = 2
context = 4
samples = 20
seed = 1
[evaluation]
samples = 20
seed = 1
[initialization]
distribution = "normal"
std = 0.1
[training]
steps = 20
batch = 0
seeds = [0, 1]
history_every = 5
checkpoint_every = 10
"""
RUN = """
[[run]]
name = "a"
rule = "gd"
learning_rate = 0.01
"""
DIVERGING = RUN.replace("0.01", "1e200")
RATES = RUN.replace("learning_rate = 0.01", "learning_rates = [1e200, 0.01]")


class Reproduced(program.Case):
    def reproduce(self, *parts, head=HEAD, options=(), expect=DONE):
        """An experiment of its head and these parts."""
        (self.folder / "tiny.toml").write_text(head + "".join(parts))
        done = self.run_program("reproduce", "tiny.toml", "-o", "out", *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done

    def figure_text(self, name, extension="md"):
        return (self.folder / f"out/tiny/figures/{name}.{extension}").read_text()

    def page(self):
        return (self.folder / "out/report.html").read_text()


class RunsLeftOut(Reproduced):
    def test_leave_traces_empty(self):
        self.reproduce(DIVERGING, """
[[variant]]
name = "first"
[[variant]]
name = "second"
initialization = { from = "first/a" }
[[figure]]
name = "f"
kind = "traces"
variants = ["second"]
quantities = ["history/loss"]
""", expect=INCONCLUSIVE)
        self.assertIn("no values to show", self.figure_text("f", "svg"))
        self.assertIn("From seed 0", self.figure_text("f"))
        self.assertIn('id="figure-tiny-f"', self.page())


class RunsThatDiverge(Reproduced):
    def test_leave_noise_to_those_that_have_the_step(self):
        self.reproduce(RATES, """
[[measure]]
analyzers = ["noise"]
noise-draws = 20
[[figure]]
name = "noise"
kind = "noise"
step = 20
""")
        with h5py.File(self.folder / "out/tiny/base/a-0.01/seed-0/analysis.h5") as file:
            mean = file["noise/mean"][file["step"][()].tolist().index(20)]
        with h5py.File(self.folder / "out/tiny/figures/noise.h5") as file:
            self.assertEqual(file["mean"][0], mean)
            self.assertEqual([name.decode() for name in file["run"]], ["a-0.01"])
            self.assertEqual(file["seed"][:].tolist(), [0])

    def test_are_skipped_with_a_remark_where_they_may(self):
        figures = """
[[measure]]
name = "end"
analyzers = ["spectrum"]
checkpoints = [20]
[[figure]]
name = "plane"
kind = "landscape"
directions = "random"
grid = "3x1"
"""
        done = self.reproduce(RATES, figures)
        for remark in ("of the measure 'end' is there: the run diverged before",
                       "the figure 'plane' finds no checkpoint of its step: the run diverged before"):
            self.assertIn(remark, done.stderr)
        self.reproduce(RATES, figures, head=HEAD.replace("may_diverge = true", ""), expect=INCONCLUSIVE)


class Monitors(Reproduced):
    def test_that_lack_numbers_are_said_each_time(self):
        monitored = HEAD.replace("[training]\n", '[monitors]\ncritical = 1\n[training]\nmonitors = ["critical"]\n')
        for state in ("new", "done"):
            done = self.reproduce(RUN, options=["--json"], head=monitored, expect=INCONCLUSIVE)
            self.assertRegex(done.stderr, r"monitor critical: \d of \d looks lack numbers", state)
            self.assertEqual(json.loads(done.stdout)["done_already"], state == "done")


class OtherTrainings(Reproduced):
    FIGURES = """
[[measure]]
analyzers = ["spectrum"]
checkpoints = [{step}]
[[figure]]
name = "top"
kind = "table"
quantities = ["spectrum/lambda_max"]
steps = [20]
[[figure]]
name = "plane"
kind = "landscape"
directions = "random"
grid = "3x3"
step = {step}
"""

    def test_leave_no_measures_and_landscapes_to_the_next_one(self):
        self.reproduce(RUN, self.FIGURES.format(step=20))
        for name in ("top", "plane"):
            self.assertNotIn("| - |", self.figure_text(name))
        # Another one at whose checkpoints nothing is measured: what lies in its folder is not of it.
        faster = RUN.replace("0.01", "0.05")
        done = self.reproduce(faster, self.FIGURES.format(step=15), options=["--force"], expect=INCONCLUSIVE)
        self.assertIn("none of the checkpoints of the measure 'analysis' is there", done.stderr)
        for name in ("top", "plane"):
            self.assertIn("| - |", self.figure_text(name))


class ShortRuns(Reproduced):
    def test_have_rates_by_the_values_that_there_are(self):
        # Before the first step there is no minibatch, so that the first row has no batch_loss.
        self.reproduce(RATES.replace("1e200", "0.005"), '[[figure]]\nname = "rates"\nkind = "rates"\n')
        self.assertIn("Mean of the last 4 values", self.figure_text("rates"))
        self.assertIn("| 0 of 2 |", self.figure_text("rates"))

    def test_have_no_columns_for_steps_that_nobody_looked_at(self):
        table = '[[figure]]\nname = "t"\nkind = "table"\nquantities = ["history/loss"]\nsteps = [{}]\n'
        done = self.reproduce(RUN, table.format(7), expect=USAGE)
        self.assertIn("the figure 't' shows step 7, at which no run has a value of 'history/loss': there are steps "
                      "0, 5, 10, 15, 20", done.stderr)
        self.reproduce(RUN, table.format(5))


class Names(Reproduced):
    def test_that_are_alike_are_told_apart_on_the_page(self):
        curves = '[[figure]]\nname = "{}"\nkind = "curves"\nquantity = "history/loss"\n'
        self.reproduce(RUN, curves.format("f_1"), curves.format("f-1"), curves.format("f.1"))
        for name in ("f-1", "f-1-2", "f-1-3"):
            self.assertEqual(self.page().count(f'id="figure-tiny-{name}"'), 1)


class FiguresThatFail(Reproduced):
    PLANE = '[[figure]]\nname = "{}"\nkind = "landscape"\ndirections = "{}"\ngrid = "3x3"\n'
    CURVES = '[[figure]]\nname = "loss"\nkind = "curves"\nquantity = "history/loss"\n'

    def test_leave_the_others_and_the_page(self):
        figures = (self.PLANE.format("lost", "file:none.npz"), self.PLANE.format("other", "tensors:Q,K"), self.CURVES)
        done = self.reproduce(RUN, *figures, options=["--json"], expect=BAD_INPUT)
        for message in ("tiny: the figure 'lost' could not be made: none.npz", "tiny: the figure 'other' could not be made"):
            self.assertIn(message, done.stderr)
        experiment = json.loads(done.stdout)["experiments"][0]
        self.assertEqual([failure["figure"] for failure in experiment["failures"]], ["lost", "other"])
        self.assertEqual([figure["name"] for figure in experiment["figure_files"]], ["loss"])
        self.assertIn('id="figure-tiny-loss"', self.page())
        self.assertIn("other could not be made: ", self.page())

    def test_end_the_program_by_their_kind_of_error(self):
        done = self.reproduce(RUN, self.CURVES, self.PLANE.format("other", "tensors:Q,K"), expect=USAGE)
        self.assertIn("the model has no tensor 'Q'", done.stderr)
        self.assertIn("other could not be made", done.stdout)

    def test_of_blocks_whose_matrices_have_another_shape(self):
        blocks = ('[[measure]]\nname = "blocks"\nanalyzers = ["blocks"]\n'
                  '[[figure]]\nname = "map"\nkind = "blocks"\nquantity = "blocks/js_distance"\n')
        self.reproduce(RUN, blocks)
        measured = next((self.folder / "out").rglob("blocks.h5"))
        with h5py.File(measured, "r+") as file:
            del file["blocks/js_distance"]
            file.move("blocks/trace", "blocks/js_distance")  # a number for each tensor, not each pair
        done = self.reproduce(RUN, blocks, expect=BAD_INPUT)
        self.assertIn("blocks.h5: /blocks/js_distance does not lie over (checkpoint, block, block)", done.stderr)


if __name__ == "__main__":
    program.main()
