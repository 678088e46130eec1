# SPDX-License-Identifier: BSD-3-Clause
"""Runs of every kind of long work that get a signal at random moments: they end within two seconds, say how to go
on, and go on.

The time is that of processors, one thread of it, so that other programs on the machine do not count; the clock on the
wall has a wider bound. HESSCOPE_SIGNALS sets the number of signals for each kind of work (default 2).
"""
import os
import random
import signal
import subprocess
import time

import numpy as np

import program
from program import DONE, INTERRUPTED

SIGNALS = int(os.environ.get("HESSCOPE_SIGNALS", "2"))
TERMINATED = 143
CODES = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}
PROCESSOR_SECONDS, WALL_SECONDS = 2.0, 15.0
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    """Of a process so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Interrupts(program.Case):
    def write_mlp(self, widths, samples):
        """A perceptron with random weights, its data and its problem file."""
        numbers = np.random.default_rng(1)
        arrays = {}
        for layer, (fan_in, fan_out) in enumerate(zip(widths, widths[1:])):
            arrays[f"layers.{layer}.weight"] = numbers.normal(size=(fan_out, fan_in)) / np.sqrt(fan_in)
            arrays[f"layers.{layer}.bias"] = 0.1 * numbers.normal(size=fan_out)
        np.savez(self.folder / "step-0.npz", **arrays)
        np.savez(self.folder / "data.npz", inputs=numbers.normal(size=(samples, widths[0])),
                 target=numbers.integers(widths[-1], size=samples))
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n[data]\nfile = "data.npz"\n')

    def interrupt(self, arguments, seconds, which):
        """Starts a run and sends it the signal when it has computed for so long. Returns what it said, or None."""
        run = subprocess.Popen(self.command(*arguments, "--threads", 1), cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.environment(), text=True)
        with run:
            while run.poll() is None and processor_seconds(run.pid) < seconds:
                time.sleep(0.01)
            if run.poll() is not None:
                self.assertEqual(run.returncode, DONE, run.stderr.read())
                return None
            before, begun = processor_seconds(run.pid), time.monotonic()
            run.send_signal(which)
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            waited = time.monotonic() - begun
            message = run.stderr.read()
        if run.returncode != CODES[which]:  # it ended before the signal came
            self.assertEqual(run.returncode, DONE, message)
            return None
        self.longest = max(self.longest, usage.ru_utime + usage.ru_stime - before)
        self.assertLess(usage.ru_utime + usage.ru_stime - before, PROCESSOR_SECONDS, message)
        self.assertLess(waited, WALL_SECONDS, message)
        self.assertEqual(message.count("interrupted"), 1, message)
        return message

    def survive(self, *arguments, most=3):
        """Signals from the first moments of a run to `most` seconds of it."""
        generator = random.Random(" ".join(map(str, arguments)))
        self.longest = heeded = 0
        while heeded < SIGNALS:
            message = self.interrupt(arguments, generator.uniform(0.3, most), list(CODES)[heeded % 2])
            if message is None:  # the run was over
                most /= 2
                self.assertGreater(most, 0.3, "the run is too short to be interrupted")
            else:
                heeded += 1
                kept = (self.folder / "out.h5.units").is_dir() or (self.folder / "out").is_dir()
                self.assertTrue("the same command continues" in message or not kept, message)
            self.remove_output()
        print(f"{self.longest:.2f} s at most until the end")

    def remove_output(self):
        subprocess.run(["rm", "-rf", self.folder / "out.h5", self.folder / "out.h5.units", self.folder / "out"],
                       check=True)

    def analyze_arguments(self, *options):
        return ["analyze", "step-0.npz", "--problem", "problem.toml", *options, "-o", "out.h5"]

    def test_dense(self):
        self.write_mlp([2, 60, 60, 3], 1200)  # 4,023 parameters: a decomposition of many seconds
        self.survive(*self.analyze_arguments())

    def test_iterative_with_eigenvectors(self):
        self.write_mlp([2, 60, 60, 3], 1200)
        self.survive(*self.analyze_arguments("--method", "iterative", "--eigenpairs", "3"))

    def test_products(self):
        self.write_mlp([20, 150, 150, 10], 20000)  # 27,310 parameters
        self.survive(*self.analyze_arguments("--density"))

    def test_products_by_blocks_and_with_intervals(self):
        self.write_mlp([20, 150, 150, 10], 2000)
        self.survive(*self.analyze_arguments("--only", "blocks,sampling,stability,ggn", "--preconditioner", "adam"))

    def test_noise(self):
        self.write_mlp([2, 40, 40, 3], 20000)
        self.survive(*self.analyze_arguments("--only", "noise"))

    def test_matrices_of_other_analyzers(self):
        self.write_mlp([2, 40, 40, 3], 1200)
        self.survive(*self.analyze_arguments("--only", "sampling,ggn,blocks,density,smoothness"))

    def test_tangent_kernel(self):
        self.write_mlp([2, 40, 40, 3], 700)
        self.survive(*self.analyze_arguments("--tangent-tensors", "*"))

    def test_landscape(self):
        self.write_mlp([2, 40, 40, 3], 1000)
        self.survive("landscape", "step-0.npz", "--problem", "problem.toml", "--directions", "random", "--grid", "9x9",
                     "--curvature", "-o", "out.h5")

    def test_training_in_large_steps(self):
        (self.folder / "experiment.toml").write_text("""\
[model]
kind = "linear-attention"
layers = 3
parametrization = "full"
[data]
kind = "linear-regression"
dimension = 5
context = 20
[evaluation]
samples = 1000
seed = 99
[initialization]
distribution = "normal"
std = 0.05
[training]
steps = 1000
batch = 2000000
checkpoint_every = 100
seeds = [0]
[[run]]
name = "adam"
rule = "adam"
learning_rate = 0.01
""")
        self.survive("train", "experiment.toml", "-o", "out")

    def test_goes_on_to_the_same_end(self):
        self.write_mlp([2, 30, 30, 3], 3000)
        arguments = self.analyze_arguments("--density", "--ggn")
        self.assertEqual(self.run_program(*arguments).returncode, DONE)
        whole = (self.folder / "out.h5").read_bytes()
        self.remove_output()
        self.longest = 0
        for k in range(3):
            self.interrupt(arguments, 0.3 + 0.3 * k, signal.SIGINT)
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual((self.folder / "out.h5").read_bytes(), whole)


if __name__ == "__main__":
    program.main()
