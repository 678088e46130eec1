# SPDX-License-Identifier: BSD-3-Clause
"""hesscope reproduce: bytes against interruptions and threads, other requests for the same output, and refusals."""
import json
import random
import signal
import subprocess
import time

import numpy as np

import program
from program import DONE, INCONCLUSIVE, USAGE
from tiny_experiment import EXPERIMENT, Reproduced


class Bytes(Reproduced):
    def test_do_not_depend_on_threads(self):
        self.reproduce("--threads", "1")
        one = self.contents()
        (self.folder / "out").rename(self.folder / "one")
        self.reproduce("--threads", "2")
        self.assertEqual(self.contents(), one)
        before = {p: p.stat().st_mtime_ns for p in (self.folder / "out").rglob("*.h5") if "figures" not in str(p)}
        self.reproduce()
        self.assertEqual({p: p.stat().st_mtime_ns for p in before}, before)
        self.assertEqual(self.contents(), one)

    def test_survive_kills(self):
        start = time.monotonic()
        self.reproduce()
        duration = time.monotonic() - start
        whole = self.contents()
        (self.folder / "out").rename(self.folder / "whole")
        chance = random.Random(7)
        killed = 0
        for _ in range(8):
            process = subprocess.Popen(self.command("reproduce", "tiny.toml", "-o", "out"), cwd=self.folder,
                                       env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                process.communicate(timeout=chance.uniform(0.1, 0.6) * duration)
                self.assertEqual(process.returncode, DONE)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                killed += 1
        self.assertGreater(killed, 0)
        self.reproduce()
        found = self.contents()
        self.assertEqual(set(found), set(whole))
        self.assertEqual([path for path in whole if found[path] != whole[path]], [])


class Divergence(Reproduced):
    def test_is_named_and_harms_no_other(self):
        self.reproduce()
        calm = self.contents()
        (self.folder / "out").rename(self.folder / "calm")
        wild = EXPERIMENT.replace('name = "many"\n', 'name = "many"\nrun.sgdm.learning_rate = 1e60\n')
        done = self.reproduce(experiment=wild, expect=INCONCLUSIVE)
        self.assertRegex(done.stderr, r"variant 'many', run 'sgdm' from seed 3 diverged in step \d+")
        self.assertRegex(self.text("loss"), r"variant `many`, run `sgdm`, seed 8: diverged in step \d+")
        found = self.contents()
        self.reproduce(experiment=wild, expect=INCONCLUSIVE)  # finished, and still so
        others = [p for p in calm if p.startswith("tiny/few") or p.startswith("tiny/many/adam")]
        self.assertGreater(len(others), 20)
        for path in others:
            self.assertEqual(found[path], calm[path], path)
        ratios = self.figure("ratios")
        self.assertTrue(np.isfinite(ratios["mean"][0]).all() and np.isnan(ratios["mean"][1]).all())
        np.testing.assert_array_equal(ratios["count"], [[2, 2], [0, 0]])
        loss = self.figure("loss")
        self.assertTrue(np.isfinite(loss["mean"].sel(run="adam")).all())


class OtherRequests(Reproduced):
    def test_do_not_replace_figures_unasked(self):
        self.reproduce("--scale", "quick")
        whole = self.contents()
        fewer = ["--scale", "quick", "--set", "training.seeds=[8]"]
        for more in ([], ["--dry-run"]):
            done = self.reproduce(*fewer, *more, expect=USAGE)
            self.assertIn("figures/loss.h5: was made with --scale quick, this is --scale quick --set "
                          "training.seeds=[8]; choose another output", done.stderr)
        self.assertEqual(self.contents(), whole)
        longer = EXPERIMENT.replace("training.steps = 5", "training.steps = 6")
        done = self.reproduce("--scale", "quick", "--dry-run", experiment=longer, expect=USAGE)
        self.assertIn("differs in 'training.steps'", done.stderr)
        self.reproduce("--scale", "quick", "--dry-run")
        self.reproduce(*fewer, "--force")
        np.testing.assert_array_equal(self.figure("loss").seed, [8])
        self.assertNotEqual(self.contents(), whole)


class MissingNumbers(Reproduced):
    def test_are_said_each_time(self):
        # Training is on Gaussian tokens; the loss of these is infinite.
        text = EXPERIMENT.replace("samples = 30",
                                  'samples = 30\ncovariates = "gamma"\ngamma_shape = 0.1\ngamma_scale = 1e100')
        first = self.reproduce(experiment=text, expect=INCONCLUSIVE)
        self.assertIn("few/sgdm/seed-3/step-000000.h5: the loss or gradient is not finite", first.stderr)
        again = self.reproduce("--json", experiment=text, expect=INCONCLUSIVE)
        self.assertEqual(again.stderr, first.stderr)
        listed = json.loads(again.stdout)["warnings"]
        self.assertEqual([f"hesscope reproduce: warning: {each}" for each in listed], first.stderr.splitlines())


class Refusals(Reproduced):
    def test_name_what_is_meant(self):
        done = self.run_program("reproduce", "la-setings", "-o", "out")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("did you mean 'la-settings'?", done.stderr)
        done = self.run_program("reproduce", "la-noise", "la-noise", "-o", "out")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("named twice", done.stderr)
        done = self.run_program("reproduce", "la-noise")
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("--output", done.stderr)
        self.assertIn("no scale 'quik' (did you mean 'quick'?)", self.reproduce("--scale", "quik", expect=USAGE).stderr)
        for old, new, line, expected in (
                ('kind = "ratios"', 'kind = "ratio"', None, "did you mean 'ratios'?"),
                ("quantity = \"history/loss\"", "quantity = \"history/los\"", None, "did you mean 'loss'?"),
                ("quantity = \"history/loss\"", "quantity = \"spectrum/trace\"", None, "spectrum"),
                ("band = \"std/2\"", "bands = \"std/2\"", "bands", "did you mean 'band'?"),
                ('runs = ["adam"]\n[[figure]]', 'runs = ["adan"]\n[[figure]]', "adan", "did you mean 'adam'?"),
                ("run.adam.learning_rate", "run.adm.learning_rate", "run.adm", "did you mean 'adam'?"),
                ("quantity = \"history/loss\"", "quantity = \"nose/noise/norm\"", None, "did you mean 'noise'?"),
                ("quantity = \"history/loss\"", "quantity = \"noise/condition/classical\"", None, "there are noise"),
                ("seed = 2", "samples = 0", "samples = 0", "samples"),
                ("noise-draws", "noise-drawn", "noise-drawn", "did you mean 'noise-draws'?"),
                ('analyzers = ["noise"]', 'analyzers = ["noses"]', '"noses"', "did you mean 'noise'?"),
                ("seeds = [8]\nseed = 2", "seeds = [9]\nseed = 2", "seeds = [9]",
                 "measure.noise.seeds is [9], of which none is among training.seeds, [3, 8]"),
                ('headings = ["loss", "R^{abs}"]', 'headings = ["loss"]', "headings", "'headings' are of the quantities: 2"),
                ('name = "half"\nstep = 10', 'name = "half"', None, "step"),
                ('name = "many"', 'name = "few"', None, "two variants named 'few'"),
                ('name = "many"', 'name = "a/b"', "a/b", "must consist of letters"),
                ("data.context = 9", "data.contexts = 9", "data.contexts", "did you mean 'context'?"),
                ("[scale.quick]", "[scale.paper]", None, "without changes")):
            self.assertIn(old, EXPERIMENT)
            text = EXPERIMENT.replace(old, new)
            done = self.reproduce(experiment=text, expect=USAGE)
            self.assertIn(expected, done.stderr)
            self.assertRegex(done.stderr, r"tiny\.toml:\d+")
            if line is not None:
                number = next(i for i, each in enumerate(text.split("\n"), 1) if line in each)
                self.assertIn(f"tiny.toml:{number}:", done.stderr)
        self.assertEqual(self.files(), {"tiny.toml"})

    def test_spare_what_others_made(self):
        self.reproduce()
        path = self.folder / "out/tiny/few/adam/seed-3/analysis.h5"
        before = path.read_bytes()
        changed = EXPERIMENT.replace('analyzers = ["condition", "smoothness"]', 'analyzers = ["condition", "smoothness"]'
                                     "\nsecant-points = 3")
        done = self.reproduce(experiment=changed, expect=USAGE)
        self.assertRegex(done.stderr, r"analysis\.h5: .*--force")
        self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    program.main()
