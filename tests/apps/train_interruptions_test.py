# SPDX-License-Identifier: BSD-3-Clause
"""hesscope train: bytes against kills and torn states, and checkpoints that are lost or damaged."""
import fcntl
import json
import random
import signal
import subprocess
import time

import h5py
import numpy as np

import program
from program import BAD_INPUT, DONE, FAILED, INTERRUPTED, LOCKED, USAGE
from training import EXPERIMENT, HEAD, LONG, SLOT, Trained

TERMINATED = 143


class Interruptions(Trained):
    def start(self, *arguments, experiment=LONG):
        (self.folder / "experiment.toml").write_text(experiment)
        return subprocess.Popen(self.command("train", "experiment.toml", "-o", "out", "--quiet", *arguments),
                                cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, text=True)

    def stop(self, process, after, number):
        time.sleep(after)
        process.send_signal(number)
        message = process.communicate()[1]
        return process.returncode, message

    def begun(self, *arguments, experiment=LONG):
        """A training in its middle, then terminated."""
        process = self.start(*arguments, experiment=experiment)
        while self.steps_kept() < 20:
            time.sleep(0.005)
        code, message = self.stop(process, 0, signal.SIGTERM)
        self.assertEqual(code, TERMINATED, message)
        return message

    @program.plain_program_only
    def test_kills_lose_nothing(self):
        self.train("whole", experiment=LONG)
        expected = self.contents("whole")
        begun = time.monotonic()
        self.train("again", experiment=LONG)
        duration = time.monotonic() - begun
        random.seed(1)
        kills = 0
        while True:
            process = self.start("--threads", 1 + kills % 3)
            try:
                # Longer and longer: the machine may have become slower since.
                process.wait(random.uniform(0.1, 0.4) * duration * (1 + kills / 10))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            message = process.communicate()[1]
            if process.returncode == DONE:
                break
            self.assertEqual(process.returncode, -signal.SIGKILL, message)
            kills += 1
            self.assertLess(kills, 100)  # each gets further, though most are shorter than from checkpoint to checkpoint
        print(f"{kills} kills")
        self.assertGreater(kills, 1)
        self.assertEqual(self.contents(), expected)

    def test_signals_say_how_to_go_on(self):
        message = self.begun("--run", "adam", "--seed", 3, "--threads", 1)
        self.assertRegex(message, "the same command continues from there:\n  hesscope train experiment.toml --run adam "
                                  "--seed 3 -o out --threads 1\n$")
        kept = self.steps_kept()
        process = self.start("--run", "adam", "--seed", 3)
        while self.steps_kept() == kept:
            time.sleep(0.005)
        self.assertEqual(self.stop(process, 0, signal.SIGINT)[0], INTERRUPTED)
        for name in ("step-004000.h5", "problem.toml", "problem-more.toml"):  # the last one of a measure
            (self.folder / f"out/.{name}.tmp-1").write_text("torn")
        done = self.train("out", "--run", "adam", "--seed", 3, "--resume", "--json", experiment=LONG)
        self.assertGreater(json.loads(done.stdout)["runs"][0]["resumed_at"], kept)
        self.assertFalse([name for name in self.contents() if "tmp" in name or "unit" in name])

    def test_a_torn_state_falls_back_to_an_older_one(self):
        self.train("whole", "--run", "adam", "--seed", 3, experiment=LONG)
        self.begun("--run", "adam", "--seed", 3)
        journal = self.folder / "out/history.h5.units/state.journal"
        whole = journal.read_bytes()
        step = self.steps_kept()
        starts = range(0, len(whole), SLOT)
        newest = max(starts, key=lambda at: int.from_bytes(whole[at + 16:at + 24], "little"))
        self.assertEqual(np.frombuffer(whole, "<f8", 1, newest + HEAD)[0], step)
        self.assertGreater(step, 1)
        units = {p.name: p.read_bytes() for p in journal.parent.iterdir()}
        # The older one is of the same step if the signal came before another step was done.
        for damaged, resumed_at in (([newest], range(1, step + 1)), (starts, [0])):
            torn = bytearray(whole)
            for at in damaged:
                torn[at + SLOT // 2] ^= 1
            for path in (self.folder / "out").glob("*.h5"):
                path.unlink()
            journal.parent.mkdir(exist_ok=True)
            for name, content in {**units, journal.name: torn}.items():
                (journal.parent / name).write_bytes(content)
            done = self.train("out", "--run", "adam", "--seed", 3, "--json", experiment=LONG)
            self.assertIn(json.loads(done.stdout)["runs"][0]["resumed_at"], resumed_at)
            self.assertEqual(self.contents(), self.contents("whole"))

    def test_a_changed_experiment_is_refused_by_the_key(self):
        selected = ("--run", "adam", "--seed", 3)
        self.begun(*selected)
        changes = (("std = 0.2", "std = 0.25", "initialization"), ("batch = 70", "batch = 71", "training.batch"),
                   ("context = 5", "context = 6", "data.context"), ("samples = 40", "samples = 41", "evaluation.samples"),
                   ('rule = "adamw"', 'rule = "adamw"\nbeta1 = 0.5', "run.beta1"))
        for finished in (False, True):
            if finished:
                self.train("out", *selected, experiment=LONG)
            before = self.contents()
            for old, new, key in changes:
                self.assertIn(old, LONG)
                done = self.train("out", *selected, experiment=LONG.replace(old, new), expect=USAGE)
                self.assertIn(f"differs in '{key}'", done.stderr)
                self.assertEqual(self.contents(), before)
        shorter = EXPERIMENT.replace("checkpoint_every = 20", "checkpoint_every = 25")
        self.train("out", *selected, "--force", experiment=shorter)
        self.assertEqual({n for n in self.contents() if n.startswith("step")},
                         {f"step-{t:06d}.h5" for t in (0, 25, 50, 60)})

    def test_an_output_in_use_is_refused(self):
        (self.folder / "out").mkdir()
        with open(self.folder / "out/history.h5.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.train("out", "--run", "adam", "--seed", 3, expect=LOCKED)
        self.train("out", "--run", "adam", "--seed", 3)
        self.assertNotIn("history.h5.lock", self.contents())


class Checkpoints(Trained):
    """Deleted and damaged ones of a training are noticed by their digests and made again, to the same bytes."""
    ADAM = ("--run", "adam", "--seed", 3)

    def damage(self):
        """Loses the first, cuts one, turns a bit of another one's numbers, and loses the one after that."""
        folder = self.folder / "out"
        (folder / "step-000000.h5").unlink()
        (folder / "step-000040.h5").write_bytes((folder / "step-000040.h5").read_bytes()[:-100])
        content = bytearray((folder / "step-000060.h5").read_bytes())
        with h5py.File(folder / "step-000060.h5") as file:
            place = bytes(content).index(file["layers.1.Q"][()].tobytes())
        content[place + 7] ^= 1
        (folder / "step-000060.h5").write_bytes(content)
        (folder / "step-000080.h5").unlink()
        return [0, 40, 60, 80]

    def experiment(self, steps=200):
        return EXPERIMENT.replace("steps = 60", f"steps = {steps}")

    def test_of_a_finished_training(self):
        self.train("whole", *self.ADAM, experiment=self.experiment())
        self.train("out", *self.ADAM, experiment=self.experiment())
        done = json.loads(self.train("out", *self.ADAM, "--json", experiment=self.experiment()).stdout)
        self.assertIs(done["done_already"], True)
        self.assertEqual(done["runs"][0]["checkpoints_made_again"], [])
        steps = self.damage()
        history = (self.folder / "out/history.h5").stat().st_mtime_ns
        done = self.train("out", *self.ADAM, "--json", experiment=self.experiment())
        document = json.loads(done.stdout)
        self.assertIs(document["done_already"], False)
        self.assertIs(document["runs"][0]["was_finished"], True)
        self.assertEqual(document["runs"][0]["checkpoints_made_again"], steps)
        for step in steps:
            self.assertIn(f"out/step-{step:06d}.h5: was missing or damaged; made again\n", done.stderr)
        self.assertEqual(self.contents(), self.contents("whole"))
        self.assertEqual((self.folder / "out/history.h5").stat().st_mtime_ns, history)

    def test_of_each_rule(self):
        text = self.experiment(60) + "".join(f'[[run]]\nname = "{rule}"\nrule = "{rule}"\nlearning_rate = 0.01\n'
                                             for rule in ("lion", "sign"))
        text = text.replace('rule = "sgd"', 'rule = "sgd"\nmomentum = 0.9')
        self.train("out", experiment=text)
        expected = self.contents()
        for path in (self.folder / "out").rglob("step-*.h5"):
            if path.name in ("step-000020.h5", "step-000060.h5"):
                path.unlink()
        self.train("out", "--threads", 3, experiment=text)
        self.assertEqual(self.contents(), expected)

    def test_of_an_interrupted_training(self):
        text = LONG.replace("checkpoint_every = 4000", "checkpoint_every = 20")
        self.train("whole", *self.ADAM, experiment=text)
        (self.folder / "experiment.toml").write_text(text)
        process = subprocess.Popen(self.command("train", "experiment.toml", "-o", "out", "--quiet", *self.ADAM),
                                   cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (self.folder / "out/step-000200.h5").exists():
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        steps = self.damage()
        done = self.train("out", *self.ADAM, "--json", experiment=text)
        run = json.loads(done.stdout)["runs"][0]
        self.assertGreaterEqual(run["resumed_at"], 180)
        self.assertEqual(run["checkpoints_made_again"], steps)
        self.assertEqual(self.contents(), self.contents("whole"))

    def test_of_a_training_whose_journal_is_of_another(self):
        """State and history of another seed, whole, in place of its own."""
        begun = {}
        for seed in (8, 3):
            (self.folder / "experiment.toml").write_text(LONG)
            process = subprocess.Popen(self.command("train", "experiment.toml", "-o", f"seed-{seed}", "--quiet", "--run",
                                                    "adam", "--seed", str(seed)), cwd=self.folder,
                                       env=self.environment(), stderr=subprocess.PIPE, text=True)
            units = self.folder / f"seed-{seed}/history.h5.units"
            while process.poll() is None and self.steps_kept(f"seed-{seed}") < 20:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            begun[seed] = units
        for name in ("state.journal", "history.journal", "checkpoints.journal"):
            (begun[3] / name).write_bytes((begun[8] / name).read_bytes())
        done = self.train("seed-3", "--run", "adam", "--seed", 3, "--json", experiment=LONG)
        run = json.loads(done.stdout)["runs"][0]
        self.assertEqual(run["resumed_at"], 0)
        self.assertIn("holds the states of another training", done.stderr)
        self.train("whole", "--run", "adam", "--seed", 3, experiment=LONG)
        self.assertEqual(self.contents("seed-3"), self.contents("whole"))

    def test_are_under_checksums(self):
        """A turned bit of a number is an error for every reader, in small tensors and in large ones."""
        text = EXPERIMENT.replace("dimension = 3", "dimension = 25").replace("steps = 60", "steps = 3")
        self.train("out", *self.ADAM, experiment=text)
        path = "out/step-000003.h5"
        for name, size in (("layers.0.P", 5000), ("optimizer.step", 8)):
            with h5py.File(self.folder / path) as file:
                self.assertEqual(file[name].nbytes, size)
                self.assertEqual(file[name].fletcher32, size > 4096)
                pattern = file[name][()].tobytes()
            content = bytearray((self.folder / path).read_bytes())
            self.assertEqual(bytes(content).count(pattern), 1)
            content[bytes(content).index(pattern)] ^= 1
            (self.folder / "bad.h5").write_bytes(content)
            with self.assertRaises((OSError, KeyError)):
                with h5py.File(self.folder / "bad.h5") as file:
                    file[name][()]
            done = self.run_program("inspect", "bad.h5")
            self.assertEqual(done.returncode, BAD_INPUT, done.stdout)

    def test_strangers_take_force_twice(self):
        (self.folder / "out").mkdir()
        for name in ("step-000000.h5", "problem.toml", "history.h5"):
            (self.folder / "out" / name).write_text("mine")
            for force in ([], ["--force"]):
                done = self.run_program("train", self.write(), "-o", "out", *self.ADAM, *force)
                self.assertIn(done.returncode, (USAGE, FAILED))
                self.assertRegex(done.stderr, f"out/{name}: .*--force --force\n$")
                self.assertEqual(self.contents(), {name: b"mine"})
            self.train("out", *self.ADAM, "--force", "--force")
            self.assertNotEqual(self.contents()[name], b"mine")
            for path in (self.folder / "out").iterdir():
                path.unlink()

    def write(self):
        (self.folder / "experiment.toml").write_text(EXPERIMENT)
        return "experiment.toml"


if __name__ == "__main__":
    program.main()
