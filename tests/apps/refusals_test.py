# SPDX-License-Identifier: BSD-3-Clause
"""Every refusal has its exit code, one message that says what to do, and leaves no file behind."""
import numpy as np

import program
from program import BAD_INPUT, DATA, FAILED, FIXTURES, PROBLEM, USAGE, checkpoint, weights


class Refusals(program.Case):
    def refuses_analysis(self, code, checkpoints, *mentions, problem=PROBLEM, output="out.h5", options=()):
        self.refuses(code, ["analyze", *checkpoints, "--problem", problem, "-o", output, *options], *mentions)


class BadCheckpoints(Refusals):
    def test_a_missing_file(self):
        self.refuses_analysis(BAD_INPUT, ["nothere.npz"], "nothere.npz", "No such file")

    def test_a_missing_file_after_good_ones(self):
        self.refuses_analysis(BAD_INPUT, [checkpoint(0), "nothere.npz"], "nothere.npz")

    def test_a_name_that_no_result_could_hold(self):
        name = b"caf\xe9.npz".decode(errors="surrogateescape")
        (self.folder / name).write_bytes(checkpoint(500).read_bytes())
        for options in ([], ["--dry-run"]):
            done = self.run_program("analyze", name, "--problem", PROBLEM, "-o", "out.h5", *options)
            self.assertEqual(done.returncode, USAGE)
            self.assertIn("caf\\xe9.npz: its name is not UTF-8", done.stderr)
        self.assertEqual(len(self.files()), 1)

    def test_names_that_terminals_obey(self):
        name = "a\x1b[31mb\nc.npz"
        (self.folder / name).write_bytes(checkpoint(500).read_bytes())
        for arguments in (["inspect", name], ["analyze", name, "--problem", PROBLEM, "-o", "o\x1b.h5"],
                          ["inspect", "n\x1b[2J"], ["convert", name, "c\x1b[2J.npz"]):
            done = self.run_program(*arguments)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
            self.assertIn("\\x1b", done.stdout + done.stderr)

    def test_names_make_no_lines_of_messages(self):
        name = "a.npz: no such file\nhesscope analyze: warning: b"
        for arguments in (["inspect", name], ["inspect", name, "c.npz"], ["convert", name, "c.npz"],
                          ["analyze", name, "--problem", PROBLEM, "-o", "o.h5"]):
            done = self.run_program(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("\\x0ahesscope analyze", done.stderr)
            for line in done.stderr.splitlines():
                self.assertRegex(line, f"^(hesscope {arguments[0]}: |Try )(?!warning)")

    def test_a_folder_without_checkpoints(self):
        (self.folder / "empty").mkdir()
        self.refuses_analysis(BAD_INPUT, ["empty"], "empty", "step-N")

    def test_what_a_folder_names_like_a_checkpoint_and_is_no_file(self):
        folder = self.folder / "run"
        folder.mkdir()
        (folder / "step-1.npz").write_bytes(checkpoint(500).read_bytes())
        other = folder / "step-2.npz"
        other.symlink_to("/nowhere/step-2.npz")
        said = "run: step-2.npz is named like a checkpoint, but is a symbolic link to /nowhere/step-2.npz, which cannot be"
        self.refuses_analysis(BAD_INPUT, ["run"], said, "name the files one by one")
        self.refuses(BAD_INPUT, ["landscape", "run", "--problem", PROBLEM, "-o", "out.h5", "--directions", "random",
                                 "--grid", "1x3"], said)
        other.unlink()
        other.mkdir()
        self.refuses_analysis(BAD_INPUT, ["run"], "run: step-2.npz is named like a checkpoint, but is a folder")

    def test_an_archive_cut_at_any_place(self):
        whole = checkpoint(500).read_bytes()
        for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
            with self.subTest(size=size):
                (self.folder / "cut.npz").write_bytes(whole[:size])
                self.refuses_analysis(BAD_INPUT, ["cut.npz"], "cut.npz")

    def test_a_flipped_byte_in_the_numbers(self):
        damaged = bytearray(checkpoint(500).read_bytes())
        damaged[300] ^= 1
        (self.folder / "flipped.npz").write_bytes(damaged)
        self.refuses_analysis(BAD_INPUT, ["flipped.npz"], "flipped.npz")

    def test_junk(self):
        (self.folder / "junk.pt").write_text("nonsense")
        self.refuses_analysis(BAD_INPUT, ["junk.pt"], "junk.pt", "no known format", "npz")

    def test_a_result_in_the_place_of_a_checkpoint(self):
        self.analyze(checkpoint(0), output="result.h5")
        self.refuses_analysis(BAD_INPUT, ["result.h5"], "result.h5", "is a hesscope result")

    def test_the_data_in_the_place_of_a_checkpoint(self):
        self.refuses_analysis(BAD_INPUT, [DATA / "eval.npz"], "eval.npz: is the data file of", "not a checkpoint")

    def test_a_key_that_leaves_the_weights_out(self):
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "under 'layers': no tensor 'layers.0.P'",
                              "only what stands under 'layers' was looked at, and the whole file fits: leave --key out",
                              options=["--key", "layers"])
        averages = {f"model.{name}": value for name, value in weights().items()}
        self.write_checkpoint("two.npz", {**averages, "ema.layers.0.P": np.zeros((5, 5))})
        self.refuses_analysis(BAD_INPUT, ["two.npz"], "what stands under 'model' fits: choose --key model",
                              options=["--key", "ema"])
        self.write_checkpoint("one.npz", {"model.layers.0.P": np.zeros((5, 5)), "ema.layers.0.P": np.zeros((5, 5))})
        self.refuses_analysis(BAD_INPUT, ["one.npz"], "but nothing else in the file fits either",
                              options=["--key", "ema"])

    def test_a_missing_tensor(self):
        arrays = weights()
        del arrays["layers.1.Q"]
        self.write_checkpoint("bad.npz", arrays)
        self.refuses_analysis(BAD_INPUT, ["bad.npz"], "bad.npz", "'layers.1.Q'", "layers.1.P")

    def test_a_tensor_too_many(self):
        self.write_checkpoint("bad.npz", {**weights(), "layers.0.bias": np.zeros(3)})
        self.refuses_analysis(BAD_INPUT, ["bad.npz"], "bad.npz", "'layers.0.bias'", "(3,)")

    def test_a_wrong_shape(self):
        self.write_checkpoint("bad.npz", {**weights(), "layers.2.P": np.zeros((5, 4))})
        self.refuses_analysis(BAD_INPUT, ["bad.npz"], "bad.npz", "'layers.2.P'", "(5, 5)", "(5, 4)")

    def test_a_second_checkpoint_that_does_not_fit_the_first(self):
        self.write_checkpoint("bad.npz", {name: value[:4, :4] for name, value in weights().items()})
        self.refuses_analysis(BAD_INPUT, [checkpoint(0), "bad.npz"], "bad.npz", "(5, 5)", "(4, 4)")

    def test_weights_that_are_no_real_numbers(self):
        self.write_checkpoint("bad.npz", {**weights(), "layers.2.P": np.zeros((5, 5), dtype=complex)})
        self.refuses_analysis(BAD_INPUT, ["bad.npz"], "bad.npz", "layers.2.P")

    def test_the_same_step_in_two_formats(self):
        for name in ("step-000500.npz", "step-000500.h5"):
            (self.folder / name).write_bytes(checkpoint(500).read_bytes())
        self.refuses_analysis(BAD_INPUT, ["."], "step 500", "step-000500.npz", "step-000500.h5", "--format")

    def test_the_same_step_in_one_format(self):
        for name in ("step-500.npz", "step-000500.npz"):
            (self.folder / name).write_bytes(checkpoint(500).read_bytes())
        for options in ([], ["--format", "npz"]):
            self.refuses_analysis(BAD_INPUT, ["."], "step-500.npz", "name the files one by one", options=options)
        # The advice holds.
        self.analyze("step-500.npz", "--only", "hessian")


class BadProblems(Refusals):
    def test_more_layers_than_the_checkpoint_has(self):
        problem = self.write_problem(("layers = 3", "layers = 4"))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "'layers.3.P'", "step-000000.npz", problem=problem)

    def test_fewer_layers_than_the_checkpoint_has(self):
        problem = self.write_problem(("layers = 3", "layers = 2"))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "'layers.2.P'", "number of layers", problem=problem)

    def test_another_kind_of_model(self):
        problem = self.write_problem(('"linear-attention"', '"mlp"'), ("layers = 3", 'activation = "tanh"'),
                                     ('parametrization = "sparse"', 'loss = "mse"'))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "'layers.0.weight'", "layers.0.P",
                              f"{problem} asks for a model of kind 'mlp'",
                              f"`hesscope inspect {checkpoint(0)} --problem {problem}`", "--map", problem=problem)

    def test_the_data_of_another_problem(self):
        other = FIXTURES / "mlp-spirals-tanh" / "eval.npz"
        problem = self.write_problem((str(DATA / "eval.npz"), str(other)))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], other, "'Z'", "inputs", problem=problem)

    def test_data_of_the_wrong_size(self):
        # The data's width says how large the weights should be.
        np.savez(self.folder / "narrow.npz", Z=np.zeros((4, 5, 6)), target=np.zeros(4))
        problem = self.write_problem((str(DATA / "eval.npz"), "narrow.npz"))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "'layers.0.P'", "(4, 4)", "(5, 5)", problem=problem)

    def test_data_arrays_of_different_lengths(self):
        np.savez(self.folder / "uneven.npz", Z=np.zeros((4, 6, 6)), target=np.zeros(3))
        problem = self.write_problem((str(DATA / "eval.npz"), "uneven.npz"))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], "uneven.npz", "'target'", "3", "'Z'", "4",
                              problem=problem)

    def test_a_missing_data_file(self):
        problem = self.write_problem((str(DATA / "eval.npz"), "nodata.npz"))
        self.refuses_analysis(BAD_INPUT, [checkpoint(0)], self.folder / "nodata.npz", problem=problem)

    def test_a_problem_file_that_cannot_be_read(self):
        (self.folder / "folder").mkdir()
        for path, reason in (("nothere.toml", "No such file"), ("folder", "is a directory"),
                             (checkpoint(0), "is not a TOML text file")):
            self.refuses_analysis(USAGE, [checkpoint(0)], path, reason, "problem file", problem=path)
        self.refuses_analysis(USAGE, [checkpoint(0)], "map file", "No such file", options=["--map", "nomap.toml"])
        self.refuses(USAGE, ["train", "nothere.toml", "-o", "runs"], "experiment file", "No such file")

    def test_more_samples_than_there_is_memory_for(self):
        (self.folder / "vast.toml").write_text(
            PROBLEM.read_text().split("[data]")[0] + '[data]\nkind = "linear-regression"\ncovariates = "gaussian"\n'
            "dimension = 5\ncontext = 20\nsamples = 1000000000\n")
        for options in ([], ["--dry-run"]):
            self.refuses_analysis(FAILED, [checkpoint(0)], "vast.toml: [data]", "1000000000 samples of 127 numbers",
                                  "needs 1.02e+03 GB", "there are", problem="vast.toml", options=options)

    def test_an_unknown_key_names_line_and_nearest(self):
        problem = self.write_problem(("layers = 3", "layesr = 3"))
        self.refuses_analysis(USAGE, [checkpoint(0)], f"{problem}:4", "'layesr'", "did you mean 'layers'",
                              problem=problem)

    def test_an_unknown_table_names_line_and_nearest(self):
        problem = self.write_problem(("[data]", "[dtaa]"))
        self.refuses_analysis(USAGE, [checkpoint(0)], f"{problem}:7", "did you mean 'data'", problem=problem)

    def test_values_that_cannot_be(self):
        for old, new, mentions in (
                ("layers = 3", "layers = 0", (":4", "layers", "got 0")),
                ("layers = 3", "layers = 2.5", (":4", "an integer")),
                ("layers = 3", 'layers = "three"', (":4", "an integer")),
                ('"sparse"', '"spares"', (":5", "'spares'", "did you mean 'sparse'")),
                ('"linear-attention"', '"linear-atention"', (":3", "did you mean 'linear-attention'")),
                ("layers = 3", "", ("'layers'",)),
                ('kind = "linear-attention"', "", ("'kind'",))):
            with self.subTest(new=new):
                problem = self.write_problem((old, new))
                self.refuses_analysis(USAGE, [checkpoint(0)], problem, *mentions, problem=problem)

    def test_text_that_is_not_toml(self):
        (self.folder / "broken.toml").write_text("[model]\nkind = \n")
        self.refuses_analysis(USAGE, [checkpoint(0)], "broken.toml:2", problem="broken.toml")


class BadCommandLines(Refusals):
    def misuses(self, arguments, said=""):
        """Refused, as all mistakes of the command line, by a message and a pointer to the help."""
        done = self.run_program(*arguments)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[1:], [f"Try 'hesscope {arguments[0]} --help'."])
        self.assertTrue(lines[0].startswith(f"hesscope {arguments[0]}: {said}"), lines[0])

    def test_an_unknown_command(self):
        self.refuses(USAGE, ["analyse"], "'analyse'", "did you mean 'analyze'")

    def test_an_unknown_option_of_the_program(self):
        self.refuses(USAGE, ["--versoin"], "'--versoin'", "did you mean '--version'")

    def test_an_unknown_option_of_a_command(self):
        self.refuses(USAGE, ["analyze", checkpoint(0), "--problme", PROBLEM, "-o", "out.h5"],
                     "'--problme'", "did you mean '--problem'")

    def test_what_is_required(self):
        self.refuses(USAGE, ["analyze"], "CHECKPOINT")
        self.refuses(USAGE, ["analyze", checkpoint(0), "-o", "out.h5"], "--problem")
        self.refuses(USAGE, ["analyze", checkpoint(0), "--problem", PROBLEM], "--output")
        self.refuses(USAGE, ["analyze", checkpoint(0), "--problem", PROBLEM, "-o"], "--output needs a value")
        self.refuses(USAGE, ["inspect"], "FILE")

    def test_options_that_would_have_no_effect(self):
        result = ["plot", "out.h5", "--figure", "spectrum", "-o", "out.svg"]
        for arguments, said in (
                (["plot", "out.h5", "--list", "--figure", "spectrum"], "--figure does not go with --list"),
                (["plot", "out.h5", "--list", "-o", "out.svg"], "--output does not go with --list"),
                ([*result, "--dpi", "300"], "--dpi goes with an output that ends in .png alone"),
                (["inspect", "--operators", "--key", "model"], "--key does not go with --operators"),
                (["inspect", checkpoint(0), "--write-map", "map.toml"], "--write-map goes with --problem alone"),
                (["inspect", checkpoint(0), checkpoint(500), "--write-map", "map.toml"],
                 "--write-map goes with one checkpoint and --problem alone"),
                (["inspect", checkpoint(0), "--force"], "--force goes with --write-map alone"),
                (["inspect", checkpoint(0), "--allow-plugins"], "--allow-plugins goes with --problem alone"),
                (["reproduce", "la-settings", "--list"], "EXPERIMENT does not go with --list"),
                (["reproduce", "--keys", "--scale", "quick"], "--scale does not go with --keys"),
                (["reproduce", "--list", "--keys"], "--keys does not go with --list")):
            self.misuses(arguments, said)
        for options, said in ((["--format", "npz"], "--format goes with a folder of checkpoints alone"),
                              (["--grid", "2"], "--grid goes with --method distributed alone"),
                              (["--engine", "scalapack"], "--engine goes with --method distributed alone"),
                              (["--ranks", "2"], "--ranks goes with --dry-run and --method distributed alone"),
                              (["--ranks", "2", "--dry-run"], "--ranks goes with --method distributed alone"),
                              (["--batch-size", "8"], "--batch-size goes with --second-moments recomputed alone"),
                              (["--second-moments", "recomputed"],
                               "--second-moments goes with --preconditioner adam or stored alone"),
                              (["--noise-reference", "8"], "--noise-reference goes with --noise-sampling fresh alone")):
            self.misuses(["analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", *options], said)

    def test_a_matrix_of_a_method_without_one(self):
        self.refuses_analysis(USAGE, [checkpoint(0)], "--save-hessian takes the matrix",
                              "--method matrix-free does not assemble",
                              options=["--save-hessian", "--method", "matrix-free"])

    def test_mistakes_of_the_command_line_all_point_to_the_help(self):
        for arguments in (["plot", "out.h5"], ["plot", "out.h5", "--figure", "spectrum"], ["reproduce"], ["inspect"],
                          ["report", "out.h5", "-o", "out.txt"], ["export", "out.h5", "-o", "out.x"],
                          ["analyze", checkpoint(0), "--problem", PROBLEM], ["convert", "a.npz"]):
            self.misuses(arguments)

    def test_an_unknown_analyzer(self):
        self.refuses_analysis(USAGE, [checkpoint(0)], "'spectra'", "did you mean 'spectrum'",
                              options=["--only", "hessian,spectra"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "'kernel'", "did you mean 'tangent-kernel'",
                              options=["--only", "kernel"])

    def test_a_problem_file_where_a_checkpoint_belongs(self):
        for arguments in (["inspect", PROBLEM], ["convert", PROBLEM, "out.npz"],
                          ["analyze", PROBLEM, "--problem", PROBLEM, "-o", "out.h5"]):
            self.refuses(BAD_INPUT, arguments, "problem.toml: is a TOML file, as problem files are")

    def test_an_empty_list_of_analyzers(self):
        self.refuses_analysis(USAGE, [checkpoint(0)], "--only", options=["--only", ","])

    def test_numbers_that_are_not_in_decimal(self):
        for option, value in (("--eigenpairs", "0x10"), ("--eigenpairs", "2x"), ("--seed", "0x10"), ("--seed", "1e3"),
                              ("--seed", "1000000000000000000"), ("--threads", "0b1"), ("--threads", " 1"),
                              ("--threads", "99999999999"), ("--learning-rate", "0x1p-3")):
            self.refuses_analysis(USAGE, [checkpoint(0)], f"{option}: must be", f"got '{value}'",
                                  options=[f"{option}={value}"])
        self.refuses(USAGE, ["train", "x.toml", "-o", "runs", "--seed", "0x10"], "--seed: must be", "'0x10'")

    def test_an_unknown_format(self):
        self.refuses_analysis(USAGE, [DATA / "adam"], "'nzp'", "did you mean 'npz'", options=["--format", "nzp"])

    def test_an_analyzer_of_another_model(self):
        for name, model in (("alignment", "signal-noise"), ("attention-terms", "attention")):
            for options in ([], ["--dry-run"]):
                self.refuses_analysis(USAGE, [checkpoint(0)], f"'{name}'", f"of the model '{model}'",
                                      options=["--only", name, *options])

    def test_an_analyzers_option(self):
        self.refuses_analysis(USAGE, [checkpoint(0)], "--eigenpairs", "'0'", options=["--eigenpairs", "0"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "--eigenpairs", "'two'", options=["--eigenpairs", "two"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "--preconditioner", "did you mean 'adam'",
                              options=["--preconditioner", "adm"])
        for option, value, rule in (("--beta1", "1", "from 0 to "), ("--confidence", "2", "above 0 and below 1, got 2"),
                                    ("--js-sigma", "-1", "at least 0"), ("--noise-ladder", "1,x", "batch sizes")):
            self.refuses_analysis(USAGE, [checkpoint(0)], f"hesscope analyze: {option}: must be {rule}",
                                  options=[f"{option}={value}"])
            self.assertIn("Try 'hesscope analyze --help'.", self.run_program(
                "analyze", checkpoint(0), "--problem", PROBLEM, "-o", "out.h5", f"{option}={value}").stderr)
        self.refuses_analysis(USAGE, [checkpoint(0)], "--learning-rate", "'nan'", options=["--learning-rate", "nan"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "--seed", "'-1'", options=["--seed=-1"])

    def test_values_out_of_range(self):
        self.refuses_analysis(USAGE, [checkpoint(0)], "--threads", "'-1'", options=["--threads=-1"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "--threads", "'many'", options=["--threads", "many"])
        self.refuses_analysis(USAGE, [checkpoint(0)], "--method", "'desne'", "did you mean 'dense'",
                              options=["--method", "desne"])


if __name__ == "__main__":
    program.main()
