# SPDX-License-Identifier: BSD-3-Clause
"""Every input is a regular file of a bounded size: pipes, devices and files without end are refused at once, whatever
they are given for. What is read of a file that changes meanwhile is never one thing and its digest another."""
import hashlib
import json
import os
import signal
import struct
import subprocess
import threading
import time

import h5py
import numpy as np

import program
from hostile_test import IS_SANITIZED, Measured
from program import BAD_INPUT, DATA, DONE, FAILED, INTERRUPTED, PROBLEM, USAGE, checkpoint, weights

SECONDS = 2  # of processor time; none of waiting, which a limit in wall time sees to
TERABYTE = 1 << 40
EXPERIMENT = program.SOURCE / "data" / "experiments" / "la-settings.toml"


def fifo(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def hole(path):
    with open(path, "wb") as file:
        file.truncate(TERABYTE)


def hole_that_begins_well(content):
    """What begins as a good file and then continues for a terabyte."""
    def make(path):
        path.write_bytes(content)
        os.truncate(path, TERABYTE)
    return make


class Inputs(program.Case):
    def measure(self, *arguments):
        return Measured(["timeout", "30", *self.command(*arguments)], self.folder, self.environment())

    def refuses_at_once(self, code, name, *arguments):
        done = self.measure(*arguments)
        said = done.stderr.decode()
        self.assertEqual(done.code, code, said)
        self.assertIn(name, said)
        if not IS_SANITIZED:
            self.assertLess(done.seconds, SECONDS)
            self.assertLess(done.kib, 256 << 10)
        return said


class HostileInputs(Inputs):
    def commands(self, name):
        """kind of input -> (exit code, command that takes the file `name` for it)"""
        good = checkpoint(500)
        samples = '[data]\nkind = "noisy-images"\n'
        model = '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n'
        (self.folder / "of-data.toml").write_text(
            PROBLEM.read_text().split("[data]")[0] + f'[data]\nfile = "{name}"\n')
        labels = self.folder / "labels.idx"
        labels.write_bytes(struct.pack(">BBBBI", 0, 0, 8, 1, 2) + b"\0\1")
        (self.folder / "of-images.toml").write_text(
            model + samples + f'samples = 4\nnoise_std = 1.0\nimages = "{name}"\nlabels = "labels.idx"\n')
        analyze = ["analyze", "-o", "out.h5"]
        return {
            "checkpoint": (BAD_INPUT, [*analyze, name, "--problem", PROBLEM]),
            "second checkpoint": (BAD_INPUT, [*analyze, good, name, "--problem", PROBLEM]),
            "problem": (USAGE, [*analyze, good, "--problem", name]),
            "map": (USAGE, [*analyze, good, "--problem", PROBLEM, "--map", name]),
            "data": (BAD_INPUT, [*analyze, good, "--problem", "of-data.toml"]),
            "images": (BAD_INPUT, [*analyze, good, "--problem", "of-images.toml"]),
            "directions": (BAD_INPUT, ["landscape", good, "--problem", PROBLEM, "-o", "out.h5", "--grid", "3x3",
                                       "--span=-1:1", "--directions", f"file:{name}"]),
            "experiment": (USAGE, ["train", name, "-o", "runs"]),
            "experiment to reproduce": (USAGE, ["reproduce", f"./{name}", "-o", "results"]),
            "inspected": (BAD_INPUT, ["inspect", name]),
            "converted": (BAD_INPUT, ["convert", name, "out.npz"]),
            "result to plot": (BAD_INPUT, ["plot", name, "--figure", "condition", "-o", "out.svg"]),
            "result to export": (BAD_INPUT, ["export", name, "--format", "csv", "-o", "out.csv"]),
        }

    def test_what_is_no_file_or_has_no_end_is_refused_for_whatever_it_is_given(self):
        with h5py.File(self.folder / "good.h5", "w") as file:
            file["w"] = np.zeros(3)
        beginnings = {"hole-h5": (self.folder / "good.h5").read_bytes(), "hole-npz": checkpoint(500).read_bytes(),
                      "hole-toml": PROBLEM.read_bytes(), "hole-idx": struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 2, 2),
                      "hole-json": b'{"weight_map": {', "hole-safetensors": struct.pack("<Q", 1 << 20) + b'{"w":'}
        makers = {"fifo": fifo, "device": device, "hole": hole,
                  **{name: hole_that_begins_well(content) for name, content in beginnings.items()}}
        for name, make in makers.items():
            make(self.folder / name)
            for kind, (code, command) in self.commands(name).items():
                with self.subTest(file=name, kind=kind):
                    self.refuses_at_once(code, name, *command)
                    self.assertFalse((self.folder / "out.h5").exists())
                    self.assertFalse((self.folder / "out.h5.units").exists())

    def test_a_shard_that_is_no_file(self):
        (self.folder / "model.json").write_text('{"weight_map": {"w": "shard"}}')
        for make in (fifo, device, hole):
            make(self.folder / "shard")
            self.refuses_at_once(BAD_INPUT, "shard", "inspect", "model.json")
            (self.folder / "shard").unlink()

    def test_units_that_are_no_files_are_computed_again(self):
        run = ["analyze", DATA / "adam", "--sampling", "--density", "--blocks", "--problem", PROBLEM,
               "--threads", "1"]
        units = self.folder / "out.h5.units"
        for _ in range(20):
            process = subprocess.Popen(self.command(*run, "-o", "out.h5"), cwd=self.folder, env=self.environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while process.poll() is None and program.num_units(units) < 3:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=300)
            if process.returncode == INTERRUPTED and program.num_units(units) >= 3:
                break
            (self.folder / "out.h5").unlink(missing_ok=True)
        else:
            self.skipTest("the run was never caught in the middle")
        found = sorted(units.glob("*.unit"))
        whole = found[2].read_bytes()
        for path, make in zip(found, (fifo, device, hole_that_begins_well(whole[:100]))):
            path.unlink()
            make(path)
        done = self.run_program(*run, "-o", "out.h5", timeout=120)
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.run_program(*run, "-o", "whole.h5")
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual((self.folder / "out.h5").read_bytes(), (self.folder / "whole.h5").read_bytes())

    def test_a_lock_that_is_no_file(self):
        def somebodys(path):  # "-o poetry" would lock "poetry.lock"
            path.write_text("content")

        for make in (fifo, device, somebodys):
            make(self.folder / "out.h5.lock")
            self.refuses_at_once(FAILED, "out.h5.lock", "analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5")
            self.assertTrue(os.path.lexists(self.folder / "out.h5.lock"), "nothing of ours was removed")
            (self.folder / "out.h5.lock").unlink()

    def test_large_configuration_files(self):
        for text, mentions in (("a = 1\n" * (16 << 20 >> 3), "at most 1048576"),
                               ("a = [\n" + "1,\n" * 200000 + "]", "big.toml:50000: the file has more than 50000"),
                               ("".join(f"[a{i}]\n" for i in range(60000)), "more than 50000"),
                               ("a." * 5000 + "a = 1", "big.toml:1: keys are nested more than 64 deep"),
                               ("a = " + "[" * 5000, "big.toml:1: lists and tables are nested more than 16 deep")):
            (self.folder / "big.toml").write_text(text)
            for command in (["analyze", checkpoint(0), "--problem", "big.toml", "-o", "out.h5"],
                            ["analyze", checkpoint(0), "--problem", PROBLEM, "--map", "big.toml", "-o", "out.h5"],
                            ["train", "big.toml", "-o", "runs"]):
                self.assertIn(mentions, self.refuses_at_once(USAGE, "big.toml", *command))


class LargeFiles(Inputs):
    """A refusal takes no longer for a large file than for a small one."""

    def wrong_shape(self, name, gibibytes):
        """A checkpoint as the problem wants it, but for one tensor that is far larger: a hole where its data are."""
        size = gibibytes << 30
        header = {"layers.0.P": {"dtype": "F64", "shape": [size // 8], "data_offsets": [0, size]}}
        text = json.dumps(header).encode()
        with open(self.folder / name, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.truncate(8 + len(text) + size)

    def test_the_wrong_shape_is_refused_before_a_digest_is_taken(self):
        self.wrong_shape("large.safetensors", 6)
        for arguments in (["large.safetensors"], [checkpoint(500), "large.safetensors"]):
            said = self.refuses_at_once(BAD_INPUT, "large.safetensors", "analyze", *arguments, "--problem", PROBLEM,
                                        "-o", "out.h5")
            self.assertIn("layers.0.P", said)


    def test_a_digest_is_left_where_a_signal_asks_to(self):
        # What fits, and a tensor of no model beside it: 40 GB, whose digest takes tens of seconds.
        header, end = {}, 0
        for name, array in weights(500).items():
            header[f"model.{name}"] = {"dtype": "F64", "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
            end += array.nbytes
        data = b"".join(array.astype("<f8").tobytes() for array in weights(500).values())
        for i in range(5):
            header[f"other{i}"] = {"dtype": "F64", "shape": [1 << 30], "data_offsets": [end, end + (8 << 30)]}
            end += 8 << 30
        text = json.dumps(header).encode()
        with open(self.folder / "large.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)
            file.truncate(8 + len(text) + end)
        command = self.command("analyze", "large.safetensors", "--key", "model", "--problem", PROBLEM, "-o", "out.h5")
        for number, code in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143)):
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment(), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1.5)
            self.assertIsNone(process.poll(), "it had ended before it could be interrupted")
            begin = time.monotonic()
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 10)  # 2 where the machine is not busy
            self.assertEqual(process.returncode, code, said)
            self.assertFalse((self.folder / "out.h5").exists())


class Replaced(program.Case):
    """Two checkpoints take turns under one name, or in one file, while runs read it."""

    def setUp(self):
        super().setUp()
        self.truth = {}  # loss by digest
        for letter, step in (("a", 500), ("b", 1000)):
            for ending in (".h5", ".npz"):
                done = self.run_program("convert", checkpoint(step), letter + ending)
                self.assertEqual(done.returncode, DONE, done.stderr)
                self.analyze(letter + ending, output=f"{letter}-{ending}.h5")
                with h5py.File(self.folder / f"{letter}-{ending}.h5") as file:
                    digest = hashlib.sha256((self.folder / (letter + ending)).read_bytes()).hexdigest()
                    self.assertEqual(file["checkpoint_sha256"].asstr()[0], digest)
                    self.truth[digest] = file["loss"][0]

    def play(self, ending, turn):
        """Runs that read x while `turn` changes it; none may store the loss of one under the digest of the other."""
        path = self.folder / ("x" + ending)
        contents = [(self.folder / (letter + ending)).read_bytes() for letter in "ab"]
        path.write_bytes(contents[0])
        stop = threading.Event()

        def change():
            i = 0
            while not stop.wait(0.003 + 0.002 * (i % 7)):
                i += 1
                turn(path, contents[i % 2])

        thread = threading.Thread(target=change)
        thread.start()
        codes = []
        try:
            for _ in range(12):
                done = self.run_program("analyze", path.name, "--problem", PROBLEM, "-o", "x-out.h5", "--only",
                                        "hessian", "--force")
                codes.append(done.returncode)
                self.assertIn(done.returncode, (DONE, BAD_INPUT), done.stderr)
                if done.returncode == DONE:
                    with h5py.File(self.folder / "x-out.h5") as file:
                        digest = file["checkpoint_sha256"].asstr()[0]
                        self.assertEqual(self.truth.get(digest), file["loss"][0])
        finally:
            stop.set()
            thread.join()
        return codes

    @staticmethod
    def replace(path, content):
        path.with_suffix(".next").write_bytes(content)
        os.replace(path.with_suffix(".next"), path)

    @staticmethod
    def overwrite(path, content):
        with open(path, "r+b") as file:
            file.write(content)
            file.truncate()

    def test_a_file_that_is_replaced(self):
        for ending in (".h5", ".npz"):
            with self.subTest(ending):
                self.play(ending, self.replace)

    def test_a_file_that_is_overwritten(self):
        for ending in (".h5", ".npz"):
            with self.subTest(ending):
                self.play(ending, self.overwrite)


if __name__ == "__main__":
    program.main()
