# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of other programs: safetensors, sharded ones, other names; hesscope convert."""
import hashlib
import json
import struct

import h5py
import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, FIXTURES, PROBLEM, USAGE, checkpoint, weights

NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
         "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}


def read_safetensors(path):
    """By the letter of the format, and by nothing of hesscope's: 8 bytes, JSON, data without gaps."""
    whole = path.read_bytes()
    size, = struct.unpack("<Q", whole[:8])
    assert size % 8 == 0 and whole[8:9] == b"{"
    header, data = json.loads(whole[8:8 + size]), whole[8 + size:]
    header.pop("__metadata__", None)
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        assert first == end
        end = last
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(data[first:last], "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(data[first:last], NUMPY[entry["dtype"]])
        arrays[name] = values.reshape(entry["shape"])
    assert end == len(data)
    return {name: arrays[name] for name in header}


def safetensors_bytes(arrays, names=None):
    """What another program would write; `names` overrides data types' names."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        kind = next(kind for kind, code in NUMPY.items() if np.dtype(code) == array.dtype)
        header[name] = {"dtype": (names or {}).get(name, kind), "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Case(program.Case):
    def convert(self, *arguments):
        done = self.run_program("convert", *arguments)
        self.assertEqual(done.returncode, DONE, done.stderr)
        return done

    def same(self, found, wanted):
        self.assertEqual(list(found), list(wanted))
        for name, array in wanted.items():
            self.assertEqual((found[name].dtype, found[name].shape), (array.dtype, array.shape), name)
            self.assertEqual(found[name].tobytes(), array.tobytes(), name)


class Convert(Case):
    arrays = {"w": np.array([[0.1, -0.0, np.inf], [5e-324, 1e308, 2.5]]), "narrow": np.float32([[0.1], [1e-45]]),
              "half": np.float16([0.1, 65504]), "labels": np.int64([-(2**53), 2**53]), "flags": np.array([True, False]),
              "bytes": np.uint8([0, 255]), "scalar": np.array(3, np.int32), "none": np.zeros((0, 2))}

    def test_other_programs_read_the_same_numbers(self):
        path = self.write_checkpoint("in.npz", self.arrays)
        self.convert(path, "a.safetensors")
        self.same(read_safetensors(self.folder / "a.safetensors"), self.arrays)
        self.convert("a.safetensors", "b.H5")  # in either case
        self.convert("b.H5", "b.h5")
        with h5py.File(self.folder / "b.h5") as file:
            self.same({name: file[name][()] if file[name].shape else np.array(file[name][()]) for name in self.arrays},
                      self.arrays)
        self.convert("b.h5", "c.npz")
        with np.load(self.folder / "c.npz") as file:
            self.same({name: file[name] for name in file.files}, self.arrays)
        self.convert("c.npz", "d.safetensors")
        self.assertEqual(digest(self.folder / "a.safetensors"), digest(self.folder / "d.safetensors"))

    def test_what_another_program_wrote_is_read(self):
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(self.arrays))
        self.convert("in.safetensors", "out.npz")
        with np.load(self.folder / "out.npz") as file:
            self.same({name: file[name] for name in file.files}, self.arrays)

    def test_bfloat16_stays_or_is_widened_with_a_note(self):
        bits = np.uint16([0x3F80, 0xC049, 0x7F80])
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes({"w": bits}, {"w": "BF16"}))
        self.assertEqual(self.convert("in.safetensors", "out.safetensors").stderr, "")
        wide = (bits.astype("<u4") << 16).view("<f4")
        self.same(read_safetensors(self.folder / "out.safetensors"), {"w": wide})
        self.assertIn("1 of 1 tensors became float32", self.convert("in.safetensors", "out.npz").stderr)
        self.same(dict(np.load(self.folder / "out.npz")), {"w": wide})
        self.assertEqual(self.convert("in.safetensors", "quiet.npz", "--quiet").stderr, "")

    def test_one_type_for_all_floats(self):
        path = self.write_checkpoint("in.npz", {"w": np.array([0.1, 1.0]), "labels": np.int64([1, 2])})
        self.convert(path, "out.npz", "--type", "float32")
        self.same(dict(np.load(self.folder / "out.npz")), {"w": np.float32([0.1, 1]), "labels": np.int64([1, 2])})
        self.convert("out.npz", "wide.npz", "--type", "float64")
        self.assertEqual(np.load(self.folder / "wide.npz")["w"].dtype, np.float64)

    def test_a_single_array(self):
        path = self.write_checkpoint("in.npz", {"w": self.arrays["w"]})
        self.assertIn("read back as 'out'", self.convert(path, "out.npy").stderr)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.arrays["w"])

    def test_all_formats_of_a_checkpoint_become_the_same_file(self):
        for extension in ("npz", "pt", "safetensors"):  # h5py listed its tensors by name
            self.convert(FIXTURES / "mlp-spirals-tanh" / f"step-000400.{extension}", f"{extension}.npz")
        self.assertEqual(len({digest(path) for path in self.folder.glob("*.npz")}), 1)

    def test_a_part_of_a_checkpoint(self):
        path = self.write_checkpoint("in.npz", {"model.w": np.zeros(2), "epoch": np.array(3)})
        self.convert(path, "out.npz", "--key", "model")
        self.same(dict(np.load(self.folder / "out.npz")), {"w": np.zeros(2)})
        self.refuses(BAD_INPUT, ["convert", path, "x.npz", "--key", "modle"], "'modle'", "did you mean 'model'")

    def test_json(self):
        path = self.write_checkpoint("in.npz", {"w": np.float32([1, 2])})
        document = json.loads(self.convert(path, "out.safetensors", "--json").stdout)
        self.assertEqual((document["command"], document["input_format"], document["format"]),
                         ("convert", "npz", "safetensors"))
        self.assertEqual(document["tensors"], [{"name": "w", "shape": [2], "from": "float32", "type": "float32"}])
        self.assertEqual(document["sha256"], digest(self.folder / "out.safetensors"))
        self.assertEqual(document["input_sha256"], digest(path))

    def test_refusals(self):
        path = self.write_checkpoint("in.npz", {"a/b": np.zeros(2), "c": np.array([1e300])})
        self.refuses(USAGE, ["convert", path, "out.pt"], "out.pt", "'.pt' is not written", "torch.save")
        self.refuses(USAGE, ["convert", path, "out.bin"], ".safetensors")
        self.refuses(USAGE, ["convert", path, path], "the output is the input")
        self.refuses(FAILED, ["convert", path, "out.h5"], "tensor 'a/b'")
        self.refuses(FAILED, ["convert", path, "out.npy"], "holds one tensor, got 2")
        self.refuses(FAILED, ["convert", path, "out.npz", "--type", "float32"], "tensor 'c'", "1e+300")
        self.refuses(FAILED, ["convert", path, "nowhere/out.npz"], "nowhere")
        self.refuses(BAD_INPUT, ["convert", "nothere.npz", "out.npz"], "nothere.npz")
        self.convert(path, "out.safetensors")
        before = digest(self.folder / "out.safetensors")
        self.refuses(FAILED, ["convert", path, "out.safetensors"], "out.safetensors", "--force")
        self.assertEqual(digest(self.folder / "out.safetensors"), before)
        self.convert(path, "out.safetensors", "--force")
        (self.folder / "notes.npz").write_text("mine")
        for force in ([], ["--force"]):
            self.refuses(FAILED, ["convert", path, "notes.npz", *force], "notes.npz", "--force --force")
        self.convert(path, "notes.npz", "--force", "--force")
        self.analyze(checkpoint(0), "--only", "condition")
        self.refuses(BAD_INPUT, ["convert", "out.h5", "x.npz"], "is a hesscope result", "export")


class Digests(Case):
    def test_the_expected_file_is_taken_and_another_refused(self):
        right, wrong = digest(checkpoint(500)), digest(checkpoint(0))
        self.analyze(checkpoint(500), "--only", "condition", "--expect-sha256", right.upper())
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file["checkpoint_sha256"][0].decode(), right)
            self.assertNotIn("expect", file.attrs["history"].decode())
        common = ["--problem", PROBLEM, "-o", "new.h5"]
        self.refuses(BAD_INPUT, ["analyze", checkpoint(500), *common, "--expect-sha256", wrong],
                     checkpoint(500), right, wrong)
        self.refuses(BAD_INPUT, ["analyze", checkpoint(0), checkpoint(500), *common, "--expect-sha256", wrong,
                                 "--expect-sha256", wrong], checkpoint(500))
        self.refuses(USAGE, ["analyze", checkpoint(0), checkpoint(500), *common, "--expect-sha256", wrong],
                     "1 digests for 2 checkpoints")
        self.refuses(USAGE, ["analyze", checkpoint(0), *common, "--expect-sha256", wrong[1:]], "64 hexadecimal")
        self.refuses(BAD_INPUT, ["landscape", checkpoint(500), *common, "--directions", "random", "--grid", "3x1",
                                 "--expect-sha256", wrong], right, wrong)

    def test_what_is_not_expected_is_not_looked_at(self):
        (self.folder / "damaged.npz").write_bytes(checkpoint(500).read_bytes()[:1000])
        common = ["analyze", "damaged.npz", "--problem", PROBLEM, "-o", "new.h5"]
        self.refuses(BAD_INPUT, common, "damaged.npz", "end-of-directory")
        self.refuses(BAD_INPUT, [*common, "--expect-sha256", digest(checkpoint(500))],
                     f"damaged.npz: has SHA-256 {digest(self.folder / 'damaged.npz')}; expected")

    def test_a_landscape_records_the_file_of_its_directions(self):
        path = self.write_checkpoint("direction.npz", weights())
        done = self.run_program("landscape", checkpoint(500), "--problem", PROBLEM, "-o", "out.h5", "--directions",
                                f"file:{path}", "--grid", "3x1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with h5py.File(self.folder / "out.h5") as file:
            self.assertEqual(file["landscape"].attrs["direction_files_sha256"].decode(), digest(path))


class Maps(Case):
    map_text = '[map]\n"layers.*.P" = "net.*.p"\n"layers.*.Q" = { name = "net.*.q_t", transpose = true }\n'

    def setUp(self):
        super().setUp()
        arrays = {}
        for name, array in weights().items():
            _, layer, letter = name.split(".")
            arrays[f"net.{layer}.{'p' if letter == 'P' else 'q_t'}"] = array if letter == "P" else array.T
        self.write_checkpoint("theirs.npz", {name: np.ascontiguousarray(a) for name, a in arrays.items()})
        (self.folder / "map.toml").write_text(self.map_text)

    def test_conversion_renames_once_and_for_all(self):
        done = self.run_program("convert", "theirs.npz", "renamed.npz", "--map", "map.toml")
        self.assertEqual(done.returncode, DONE, done.stderr)
        with np.load(self.folder / "renamed.npz") as renamed:
            self.assertEqual(set(renamed.files), set(weights()))
            for name, array in weights().items():
                np.testing.assert_array_equal(renamed[name], array, err_msg=name)

    def test_gives_the_numbers_of_the_checkpoint_under_our_names(self):
        self.analyze("theirs.npz", "--map", "map.toml")
        self.analyze(checkpoint(500), output="ours.h5")
        with h5py.File(self.folder / "out.h5") as mapped, h5py.File(self.folder / "ours.h5") as ours:
            for name in ("loss", "gradient_norm", "hessian/diagonal", "spectrum/eigenvalues"):
                np.testing.assert_array_equal(mapped[name][()], ours[name][()])
            self.assertIn("'net.*.q_t', transpose = true", mapped.attrs["tensor_map"].decode())
            self.assertIn("--map map.toml", mapped.attrs["history"].decode())
            self.assertNotIn("tensor_map", ours.attrs)

    def test_serves_landscape_and_inspect(self):
        done = self.run_program("landscape", "theirs.npz", "--map", "map.toml", "--problem", PROBLEM, "-o", "out.h5",
                                "--directions", "random", "--grid", "3x1")
        self.assertEqual(done.returncode, DONE, done.stderr)
        done = self.run_program("inspect", "theirs.npz", "--map", "map.toml")
        self.assertIn("layers.2.Q", done.stdout)

    def test_names_what_stands_under_a_key(self):
        with np.load(self.folder / "theirs.npz") as file:
            self.write_checkpoint("whole.npz", {"epoch": np.array(3), **{f"state.ema.{n}": file[n] for n in file.files}})
        self.analyze("whole.npz", "--key", "state.ema", "--map", "map.toml", "--only", "condition")
        (self.folder / "map.toml").write_text('key = "ema"\n' + self.map_text)
        self.analyze("whole.npz", "--key", "state", "--map", "map.toml", "--only", "condition", output="again.h5")
        with h5py.File(self.folder / "out.h5") as one, h5py.File(self.folder / "again.h5") as other:
            self.assertEqual(one["loss"][0], other["loss"][0])
            self.assertIn("--key state --map map.toml", other.attrs["history"].decode())

    def test_is_refused_where_it_does_not_fit(self):
        def refused(code, text, *mentions):
            (self.folder / "map.toml").write_text(text)
            self.refuses(code, ["analyze", "theirs.npz", "--map", "map.toml", "--problem", PROBLEM, "-o", "out.h5"],
                         "map.toml", *mentions)

        refused(BAD_INPUT, '[map]\n"layers.0.P" = "net.0.P"\n', "map.toml:2", "did you mean 'net.0.p'")
        refused(USAGE, self.map_text + '"layers.0.x" = "net.0.p"\n', "'net.0.p'", "map.toml:2", "map.toml:4")
        refused(USAGE, '[map]\nlayers.0.P = "net.0.p"\n', "map.toml:2", "quotes")
        refused(USAGE, '[mop]\n', "map.toml:1", "did you mean 'map'")
        self.refuses(USAGE, ["analyze", "theirs.npz", "--map", "none.toml", "--problem", PROBLEM, "-o", "out.h5"],
                     "none.toml")
        self.write_checkpoint("cube.npz", {"a": np.zeros((2, 2, 2))})
        (self.folder / "map.toml").write_text('[map]\n"b" = { name = "a", transpose = true }\n')
        self.refuses(BAD_INPUT, ["inspect", "cube.npz", "--map", "map.toml"], "'a' has shape (2, 2, 2)", "map.toml:2")


class Shards(Case):
    def setUp(self):
        super().setUp()
        arrays = weights()
        names = list(arrays)
        parts = {"part-1.safetensors": names[:2], "part-2.safetensors": names[2:]}
        for file, held in parts.items():
            (self.folder / file).write_bytes(safetensors_bytes({name: arrays[name] for name in held}))
        self.index = self.folder / "step-500.safetensors.index.json"
        self.index.write_text(json.dumps({"metadata": {"total_size": 1200},
                                          "weight_map": {n: f for f, held in parts.items() for n in held}}))

    def test_are_analyzed_as_one_checkpoint(self):
        self.analyze(".")
        self.analyze(checkpoint(500), output="ours.h5")
        lines = "".join(f"{digest(self.folder / name)}  {name}\n"
                        for name in (self.index.name, "part-1.safetensors", "part-2.safetensors"))
        with h5py.File(self.folder / "out.h5") as file, h5py.File(self.folder / "ours.h5") as ours:
            self.assertEqual(file["loss"][0], ours["loss"][0])
            self.assertEqual(file["step"][0], 500)
            self.assertEqual(file["checkpoint_sha256"][0].decode(), hashlib.sha256(lines.encode()).hexdigest())

    def test_a_missing_part_is_named(self):
        (self.folder / "part-2.safetensors").unlink()
        self.refuses(BAD_INPUT, ["analyze", self.index, "--problem", PROBLEM, "-o", "out.h5"], "part-2.safetensors",
                     "No such file", self.index)

    def test_a_part_is_no_output(self):
        before = digest(self.folder / "part-1.safetensors")
        (self.folder / "alias.h5").symlink_to("part-1.safetensors")
        self.refuses(USAGE, ["analyze", self.index, "--problem", PROBLEM, "-o", "alias.h5", "--force"],
                     "the output is an input")
        self.refuses(USAGE, ["convert", self.index, "part-1.safetensors", "--force", "--force"], "the output is the input")
        self.assertEqual(digest(self.folder / "part-1.safetensors"), before)

    def test_the_digest_is_of_all_parts(self):
        inspected = json.loads(self.run_program("inspect", self.index, "--json").stdout)
        converted = json.loads(self.run_program("convert", self.index, "whole.npz", "--json").stdout)
        self.assertEqual(converted["input_sha256"], inspected["sha256"])

    def test_a_part_elsewhere_is_not_opened(self):
        self.index.write_text(json.dumps({"weight_map": {"w": "../part-1.safetensors"}}))
        self.refuses(BAD_INPUT, ["inspect", self.index], "'../part-1.safetensors'", "next to it")


class Unreadable(Case):
    """Arrays that are no real numbers, beside those that are: only what needs them fails."""

    def write_hdf5(self, name, arrays):
        with h5py.File(self.folder / name, "w") as file:
            for key, array in arrays.items():
                file[key] = array.astype("S") if array.dtype.kind == "U" else array
        return self.folder / name

    def write(self, extension, arrays):
        return getattr(self, {"npz": "write_checkpoint", "h5": "write_hdf5"}[extension])(f"odd.{extension}", arrays)

    def test_inspect_lists_them(self):
        odd = {"note": np.array(["by", "hand"]), "layers.9.P": np.zeros((5, 5), complex)}
        for extension in ("npz", "h5"):
            with self.subTest(extension):
                path = self.write(extension, {**odd, **weights()})
                done = self.run_program("inspect", path)
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertIn("6 tensors, 150 numbers", done.stdout)
                self.assertRegex(done.stdout, r"(?m)^not read: note: its d?type \(at byte \d+.*strings")
                self.assertRegex(done.stdout, r"(?m)^not read: layers\.9\.P: its d?type \(at byte \d+.*complex")
                document = json.loads(self.run_program("inspect", path, "--json").stdout)
                self.assertEqual({entry["name"] for entry in document["unreadable"]}, set(odd))

    def test_text_beside_weights_and_data_is_passed_over(self):
        self.analyze(checkpoint(500), "--only", "condition", output="ours.h5")
        with np.load(DATA / "eval.npz") as file:
            data = {name: file[name] for name in file.files}
        note = {"note": np.array(["by", "hand"])}
        for extension in ("npz", "h5"):
            with self.subTest(extension):
                path = self.write(extension, {**note, **weights()})
                self.write_checkpoint("data.npz", {**note, **data, "phase": np.zeros(3, complex)})
                problem = self.write_problem((str(DATA / "eval.npz"), "data.npz"))
                self.analyze(path, "--only", "condition", "--force", problem=problem)
                with h5py.File(self.folder / "out.h5") as file, h5py.File(self.folder / "ours.h5") as ours:
                    self.assertEqual(file["loss"][0], ours["loss"][0])
                done = self.run_program("inspect", path, "--problem", PROBLEM)
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertIn("fits the linear-attention model", done.stdout)

    def test_what_needs_them_is_refused(self):
        text = np.array(["by", "hand"])
        run = ["--problem", PROBLEM, "-o", "out.h5"]
        for extension in ("npz", "h5"):
            with self.subTest(extension):
                path = self.write(extension, {**weights(), "layers.2.Q": text})
                self.refuses(BAD_INPUT, ["analyze", path, *run], path, "'layers.2.Q'", "strings")
                # No model may be fitted to the rest of what may be parameters.
                path = self.write(extension, {**weights(), "layers.3.P": np.zeros((5, 5), complex)})
                self.refuses(BAD_INPUT, ["analyze", path, *run], path, "'layers.3.P'", "complex", "--map")
                self.refuses(BAD_INPUT, ["convert", path, "new.npz"], path, "'layers.3.P'", "complex")
                (self.folder / "map.toml").write_text('ignore = ["layers.3.P"]\n[map]\n')
                self.analyze(path, "--map", "map.toml", "--only", "condition", "--force", output="mapped.h5")
                (self.folder / "map.toml").write_text('[map]\n"layers.0.P" = "layers.3.P"\n')
                self.refuses(BAD_INPUT, ["inspect", path, "--map", "map.toml"], "'layers.3.P'", "complex")
        with np.load(DATA / "eval.npz") as file:
            data = {name: file[name] for name in file.files}
        self.write_checkpoint("data.npz", {**data, "Z": data["Z"].astype(complex)})
        problem = self.write_problem((str(DATA / "eval.npz"), "data.npz"))
        self.refuses(BAD_INPUT, ["analyze", checkpoint(500), "--problem", problem, "-o", "out.h5"], "data.npz", "'Z'",
                     "complex")
        path = self.write_checkpoint("objects.npz", {**weights(), "note": np.array([{}], object)})
        self.refuses(BAD_INPUT, ["inspect", path], path, "note.npy", "objects")


if __name__ == "__main__":
    program.main()
