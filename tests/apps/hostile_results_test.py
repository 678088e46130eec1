# SPDX-License-Identifier: BSD-3-Clause
"""Results made to harm are refused, or read as what they are: nothing crashes, hangs, prints what terminals obey or
reads another file."""
import shutil
import unittest
import zlib

import h5py
import numpy as np

import program
from hostile_files import SECRET
from hostile_test import CPU_SECONDS, IS_SANITIZED, MEMORY_KIB, Measured
from program import BAD_INPUT, DONE

EDITS = {}


def edit(expected):
    """Registers what is done to a good result, and how `inspect` must end then."""
    def register(function):
        EDITS[function.__name__.replace("_", "-")] = (function, expected)
        return function
    return register


@edit(DONE)
def shape_bomb(file, folder):
    file["spectrum"].create_dataset("bomb", (2**40,), "f8", chunks=(1024,))


@edit(DONE)
def text_bomb(file, folder):
    file["spectrum"].create_dataset("bomb", (2**40,), h5py.string_dtype(), chunks=(1024,))


@edit(DONE)
def external_storage(file, folder):
    file["spectrum"].create_dataset("w", (len(SECRET),), "i1", external=[(str(folder / "secret.txt"), 0, len(SECRET))])


@edit(DONE)
def external_link(file, folder):
    file["spectrum/w"] = h5py.ExternalLink(str(folder / "secret.txt"), "/w")


@edit(DONE)
def soft_link_to_itself(file, folder):
    file["w"] = h5py.SoftLink("/w")


@edit(DONE)
def cycle(file, folder):
    file["spectrum/up"] = file["/"]


@edit(DONE)
def many_variables(file, folder):
    for i in range(2000):
        file["spectrum"].create_dataset(f"v{i}", data=np.zeros(2))


@edit(DONE)
def types_of_others(file, folder):
    file["spectrum/compound"] = np.zeros(3, [("a", "f8"), ("b", "i4")])
    file["spectrum/reference"] = np.array([file.ref] * 3, h5py.ref_dtype)
    file["spectrum"].attrs["compound"] = np.zeros(2, [("a", "f8")])


@edit(DONE)
def text_that_terminals_obey(file, folder):
    file.attrs["note"] = "\x1b]0;owned\x07"
    file["spectrum/lambda_max"].attrs["long_name"] = "\x1b[2J"
    file["spectrum"].attrs["bytes"] = np.bytes_(b"\xff\xfe\x9b")


@edit(BAD_INPUT)
def schema_of_tomorrow(file, folder):
    file.attrs["hesscope_schema_version"] = "3.0.0"


@edit(BAD_INPUT)
def schema_that_terminals_obey(file, folder):
    file.attrs["hesscope_schema_version"] = "\x1b[2J"


@edit(BAD_INPUT)
def name_that_terminals_obey(file, folder):
    file["spectrum"].create_dataset("\x1b[2J", data=[1.0])


@edit(BAD_INPUT)
def attribute_that_terminals_obey(file, folder):
    file.attrs["\x1b[2J"] = 1


@edit(BAD_INPUT)
def group_that_terminals_obey(file, folder):
    file.create_group("\x1b[2J")


ENDLESS = 400_000_000  # numbers: 3.2 GB


def replaced(file, length, chunks_there, has_long_dimension=True):
    """The eigenvalues of a good result, as long as that: a few chunks of zeros are stored."""
    group = file["spectrum"]
    old = group["eigenvalues"]
    attributes = {name: old.attrs[name] for name in ("long_name", "units", "definition")}
    count = old.shape[0]
    del group["eigenvalues"]
    chunk = 1 << 20
    new = group.create_dataset("eigenvalues", (count, length), "f8", chunks=(1, chunk), compression="gzip")
    new.attrs.update(attributes)
    zeros = zlib.compress(bytes(8 * chunk), 9)
    for i in range(chunks_there):
        new.id.write_direct_chunk((0, i * chunk), zeros)
    if has_long_dimension:
        del group["rank"]
        group.create_dataset("rank", (length,), "i8", chunks=(chunk,), compression="gzip")
        group["rank"].make_scale("rank")
    new.dims[0].attach_scale(file["checkpoint"])
    new.dims[1].attach_scale(group["rank"])


class HostileResults(program.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "secret.txt").write_bytes(SECRET)
        self.good = self.folder / "good.h5"
        self.analyze(program.checkpoint(500), program.checkpoint(1000), output=self.good)

    def measure(self, *arguments):
        return Measured(["timeout", "30", *self.command(*arguments)], self.folder, self.environment())

    def check(self, done, expected):
        text = (done.stdout + done.stderr).decode()
        self.assertIn(done.code, expected, text)
        self.assertNotIn(SECRET.decode(), text)
        self.assertTrue(text.replace("\n", "").isprintable(), text)
        if not IS_SANITIZED:
            self.assertLess(done.seconds, CPU_SECONDS)
            self.assertLess(done.kib, MEMORY_KIB)

    def test_a_small_file_that_claims_to_be_large(self):
        for stored in (0, 16):
            with self.subTest(stored):
                shutil.copy(self.good, self.folder / "a.h5")
                with h5py.File(self.folder / "a.h5", "a") as file:
                    replaced(file, ENDLESS, stored)
                self.assertLess((self.folder / "a.h5").stat().st_size, 400_000)
                done = self.measure("plot", "a.h5", "--figure", "spectrum", "-o", "a.svg")
                self.check(done, {BAD_INPUT})
                self.assertRegex(done.stderr, rb"a\.h5: variable 'spectrum/(eigenvalues|rank)': declares")
                self.assertIn(b"refused as a decompression bomb", done.stderr)
                for command in (["plot", "a.h5", "--figure", "condition", "-o", "a.svg", "--force"],
                                ["export", "a.h5", "--format", "csv", "-o", "a.csv", "--force"], ["inspect", "a.h5"]):
                    self.check(self.measure(*command), {DONE})  # what is not needed is not read

    def test_dimensions_are_compared_before_data_are_read(self):
        shutil.copy(self.good, self.folder / "a.h5")
        with h5py.File(self.folder / "a.h5", "a") as file:
            replaced(file, ENDLESS, 0, has_long_dimension=False)
        for command in (["plot", "a.h5", "--figure", "spectrum", "-o", "a.svg"],
                        ["export", "a.h5", "--format", "csv", "-o", "a.csv"], ["inspect", "a.h5"]):
            done = self.measure(*command)
            self.check(done, {BAD_INPUT})
            self.assertIn(b"variable 'spectrum/eigenvalues': its extent along dimension 'rank' is 400000000, but that "
                          b"dimension has 150 entries", done.stderr)

    def test_a_dimension_of_a_group_counts_before_that_of_the_whole(self):
        shutil.copy(self.good, self.folder / "a.h5")
        with h5py.File(self.folder / "a.h5", "a") as file:
            own = file["spectrum"].create_dataset("checkpoint", data=np.arange(99.0))
            own.make_scale("checkpoint")
        done = self.measure("export", "a.h5", "--format", "csv", "-o", "a.csv")
        self.check(done, {BAD_INPUT})
        self.assertIn(b"along dimension 'checkpoint' is ", done.stderr)
        self.assertIn(b"but that dimension has 99 entries", done.stderr)

    def test_a_variable_that_lies_in_another_file(self):
        shutil.copy(self.good, self.folder / "a.h5")
        with h5py.File(self.folder / "a.h5", "a") as file:
            count = file["spectrum/lambda_max"].shape[0]
            del file["spectrum/lambda_max"]
            new = file["spectrum"].create_dataset("lambda_max", (count,), "f8",
                                                  external=[(str(self.folder / "secret.txt"), 0, 8 * count)])
            new.dims[0].attach_scale(file["checkpoint"])
        done = self.measure("export", "a.h5", "--format", "csv", "-o", "a.csv")
        self.check(done, {BAD_INPUT})
        self.assertIn(b"its data lies in another file (external storage), which is not followed", done.stderr)

    def test_densities_that_are_not_as_long_as_their_places(self):
        self.analyze(program.checkpoint(500), "--only", "density", "--force", output=self.good)
        shutil.copy(self.good, self.folder / "a.h5")
        with h5py.File(self.folder / "a.h5", "a") as file:
            del file["density/exact_density"]
            file["density"].create_dataset("exact_density", data=np.ones((1, 1)))
            file["density/exact_density"].dims[0].attach_scale(file["checkpoint"])
        for results in (["a.h5"], ["a.h5", "good.h5", "--label", "r", "--label", "r"],
                        ["good.h5", "a.h5", "--label", "r", "--label", "r"]):
            for command in (["plot", *results, "--figure", "density", "-o", "a.svg"],
                            ["report", *results, "-o", "a.html"]):
                with self.subTest(results=results, command=command[0]):
                    done = self.measure(*command)
                    self.check(done, {BAD_INPUT})
                    self.assertRegex(done.stderr, rb"a\.h5: variable '/density/exact_density': must have \d+ values")

    def test_each_edit_is_harmless(self):
        for name, (function, expected) in EDITS.items():
            with self.subTest(name):
                shutil.copy(self.good, self.folder / "a.h5")
                with h5py.File(self.folder / "a.h5", "a") as file:
                    function(file, self.folder)
                done = self.measure("inspect", "a.h5")
                self.check(done, {expected})
                if expected == BAD_INPUT:
                    self.assertIn(b"a.h5: ", done.stderr)
                    self.assertRegex(done.stderr, rb"\\x1b\[2J|this program knows \(\d+\.\d+\.\d+\)")
                for command in (["plot", "a.h5", "--figure", "condition", "-o", "a.svg", "--force"],
                                ["export", "a.h5", "--format", "csv", "-o", "a.csv", "--force"],
                                ["inspect", "a.h5", "--json"]):
                    self.check(self.measure(*command), {DONE, BAD_INPUT})
                for output in ("a.svg", "a.csv"):
                    if (self.folder / output).exists():
                        self.assertNotIn(SECRET, (self.folder / output).read_bytes())


if __name__ == "__main__":
    program.main()
