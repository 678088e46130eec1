# SPDX-License-Identifier: BSD-3-Clause
"""What the program prints and where: summaries, JSON, progress, help; and how it stops."""
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import time

import numpy as np

import program
from program import BAD_INPUT, DATA, DONE, FAILED, INTERRUPTED, PROBLEM, PROGRAM, STEPS, USAGE, checkpoint, golden

ANALYZE_ADAM = ("analyze", DATA / "adam", "--problem", PROBLEM, "-o", "out.h5")


class Help(program.Case):
    def test_of_the_program_lists_the_commands(self):
        for arguments in ([], ["--help"], ["-h"]):
            done = self.run_program(*arguments)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            for text in ("analyze", "train", "reproduce", "inspect", "Examples:\n  hesscope analyze ", "Exit codes: 0 done"):
                self.assertIn(text, done.stdout)

    def test_of_each_command_shows_options_and_examples(self):
        for command, options in (("analyze", ("--problem", "--output", "--only", "--threads", "--json", "--force",
                                              "--dry-run", "--quiet", "--save-hessian", "--format")),
                                 ("train", ("--output", "--run", "--seed", "--resume", "--threads", "--json", "--force",
                                            "--dry-run", "--quiet")),
                                 ("reproduce", ("--output", "--scale", "--list", "--threads", "--json", "--force",
                                                "--dry-run", "--quiet")),
                                 ("inspect", ("--json", "--quiet"))):
            for flag in ("--help", "-h"):
                done = self.run_program(command, flag)
                self.assertEqual((done.returncode, done.stderr), (DONE, ""))
                self.assertIn(f"Examples:\n  hesscope {command} ", done.stdout)
                for option in options:
                    self.assertIn(option, done.stdout)

    def test_has_lines_for_narrow_terminals_and_groups(self):
        commands = re.findall(r"(?m)^  ([a-z]+) ", self.run_program("--help").stdout.split("Commands:")[1].split("\n\n")[0])
        self.assertGreaterEqual(set(commands), {"analyze", "landscape", "train", "reproduce", "inspect", "convert",
                                                "plot", "export"})
        for command in commands:
            with self.subTest(command):
                said = self.run_program(command, "--help").stdout
                self.assertEqual([line for line in said.splitlines() if len(line) > 80], [])
                for heading in ("Usage", "Examples", "Input", "Output", "Help"):
                    self.assertRegex(said, rf"(?m)^{heading}:$")
                # What must be given is in the line on usage, and said to be required.
                usage = said.split("Usage:\n")[1].split("\n\n")[0]
                self.assertEqual(len(re.findall(r" --[a-z]", usage)), said.count("(required)"))

    def test_of_analyze_has_each_analyzer_with_its_options(self):
        said = self.run_program("analyze", "--help").stdout
        parts = {part.removeprefix("Analyzer ").split()[0].rstrip(":"): part for part in said.split("\n\n")}
        self.assertIn("--noise-draws N", parts["noise"])
        self.assertIn("--eigenpairs N", parts["eigenpairs"])
        self.assertIn("--save-hessian", parts["hessian"])
        self.assertIn("(runs by default)", parts["spectrum"])
        self.assertNotIn("(runs by default)", parts["noise"])
        self.assertIn("--method auto|dense", parts["Eigenvalues"])
        self.assertIn("--problem FILE.toml", parts["Input"])
        self.assertIn("--force", parts["Output"])
        self.assertIn("--threads N", parts["Running"])

    def test_examples_are_commands_for_a_shell(self):
        said = self.run_program("analyze", "--help").stdout
        examples = said.split("Examples:\n")[1].split("\n\n")[0]
        commands = [shlex.split(line) for line in examples.replace("\\\n", " ").splitlines()]
        self.assertTrue(all(command[:2] == ["hesscope", "analyze"] for command in commands), commands)
        self.assertIn(["hesscope", "analyze", "epoch-10.pt", "--problem", "problem.toml", "-o", "result.h5", "--key",
                       "model_state_dict"], commands)

    def test_a_mistyped_option_of_any_group_is_found(self):
        for wrong, right in (("--probelm", "--problem"), ("--noise-draw", "--noise-draws"), ("--thread", "--threads"),
                             ("--methd", "--method")):
            self.refuses(USAGE, ["analyze", wrong, "1"], f"did you mean '{right}'")

    def test_may_be_asked_for_as_a_command(self):
        self.assertEqual(self.run_program("help").stdout, self.run_program("--help").stdout)
        done = self.run_program("help", "analyze")
        self.assertEqual((done.returncode, done.stdout), (DONE, self.run_program("analyze", "--help").stdout))
        self.refuses(USAGE, ["help", "analyse"], "did you mean 'analyze'")

    def test_version(self):
        done = self.run_program("--version")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        self.assertRegex(done.stdout, r"^hesscope \d+\.\d+\.\d+\n$")

    def test_a_usage_mistake_points_to_the_help(self):
        done = self.run_program("analyze")
        self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
        self.assertIn("Try 'hesscope analyze --help'.", done.stderr)


class Summary(program.Case):
    def test_names_the_numbers_and_the_output(self):
        done = self.run_program(*ANALYZE_ADAM)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        lines = done.stdout.splitlines()
        self.assertRegex(lines[-1], r"^written to out\.h5 in ")
        self.assertEqual(lines[-2], "150 parameters, 256 samples")
        self.assertEqual(lines[0].split(), ["/", "loss", "gradient_norm"])
        loss = float(golden(500)["loss"])
        self.assertEqual(lines[2].split()[:2], ["step-000500.npz", f"{loss:.6g}"])
        self.assertRegex(done.stdout, r"(?m)^step-000000\.npz +361\.166 +zero median ")
        self.assertIn("zero median: the median is zero within rounding", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^step-000000\.npz +\S+ +~0 +23")  # and not 7e-17
        self.assertIn("~0: zero within rounding", done.stdout)

    def test_lines_fit_a_terminal_and_end_without_blanks(self):
        for line in self.run_program(*ANALYZE_ADAM).stdout.splitlines():
            self.assertLessEqual(len(line), 100)
            self.assertEqual(line, line.rstrip())

    def test_tells_equal_names_of_two_folders_apart(self):
        done = self.run_program("analyze", DATA / "adam", DATA / "sgdm", *ANALYZE_ADAM[2:])
        self.assertIn("\nadam/step-000500.npz ", done.stdout)
        self.assertIn("\nsgdm/step-000500.npz ", done.stdout)

    def test_says_what_missing_numbers_take(self):
        done = self.run_program(*ANALYZE_ADAM, "--only", "spectrum,stability,eigenpairs,hessian")
        legend = [line for line in done.stdout.splitlines() if line.startswith("- in ")]
        self.assertEqual(legend, ["- in /eigenpairs: not computed; an overlap is with the checkpoint before; of "
                                  "eigenvalues that coincide all are taken (--eigenpairs)",
                                  "- in /stability: not computed; ratios take --learning-rate"])
        self.assertNotIn("- in ", self.run_program(*ANALYZE_ADAM, "--force").stdout)

    def test_quiet_prints_nothing(self):
        done = self.run_program(*ANALYZE_ADAM, "--quiet")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (DONE, "", ""))
        self.assertEqual(self.files(), {"out.h5"})

    def test_a_standard_output_that_is_full_is_a_failure(self):
        self.write_checkpoint("small.npz", {"a": np.array([1e-300])})  # of which a note follows the summary
        self.write_checkpoint("many.npz", {f"tensor_{k:04}": np.zeros(1) for k in range(999)})  # beyond any buffer
        for arguments in (ANALYZE_ADAM, ("inspect", checkpoint(0)), ("--help",), ("inspect", "many.npz"),
                          ("inspect", "many.npz", "--json"),
                          ("convert", "small.npz", "float32.npz", "--type", "float32")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(self.command(*arguments), cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=300)
            self.assertEqual(done.returncode, FAILED, arguments)
            self.assertIn("No space left on device", done.stderr)
            self.assertNotIn("Input/output", done.stderr)


class StandardStreams(program.Case):
    """The shell's 2>/dev/full, 1>&- and so on."""

    def run_with(self, redirections, *arguments):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", *self.command(*arguments)],
                              cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env=self.environment()).returncode

    def test_a_message_that_cannot_be_delivered_leaves_the_exit_code(self):
        for redirections in ("2>/dev/full", "2>&-", "<&- >&- 2>&-"):
            for code, arguments in ((BAD_INPUT, ("inspect", "nothere.npz")), (USAGE, ("foo",)),
                                    (USAGE, ("analyze", "--no-such-option")), (USAGE, ("plot", "nothere.h5"))):
                with self.subTest(redirections=redirections, arguments=arguments):
                    self.assertEqual(self.run_with(redirections, *arguments), code)

    def test_in_one_file_they_keep_the_order_of_what_was_said(self):
        self.write_checkpoint("small.npz", {"a": np.array([1e-300])})
        command = self.command("convert", "small.npz", "float32.npz", "--type", "float32")
        done = subprocess.run(command, cwd=self.folder, text=True, env=self.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, DONE, done.stdout)
        self.assertEqual(done.stdout.splitlines(),
                         ["1 tensor written to float32.npz",
                          "hesscope convert: note: 1 number became 0, as float32 has none so small; the first is in 'a'"])

    def test_closed_ones_are_not_taken_for_files_of_the_run(self):
        for redirections, code in (("<&-", DONE), ("2>&-", DONE), (">&- 2>&-", FAILED), ("<&- >&- 2>&-", FAILED)):
            with self.subTest(redirections=redirections):
                # A summary that nobody receives is a failure; the result is whole all the same.
                self.assertEqual(self.run_with(redirections, *ANALYZE_ADAM, "--force"), code)
                self.assertEqual(self.run_program("inspect", "out.h5").returncode, DONE)
        self.assertEqual(self.run_with("<&- >&- 2>&-", *ANALYZE_ADAM, "--force", "--quiet"), DONE)
        self.assertEqual(self.files(), {"out.h5"})


class Numbers(program.Case):
    def test_are_decimal_whatever_they_begin_with(self):
        self.analyze(checkpoint(0), "--only", "eigenpairs", "--eigenpairs", "010", "--seed", "09")
        groups = json.loads(self.run_program("inspect", "out.h5", "--json").stdout)["groups"]
        pairs = next(group for group in groups if group["name"] == "eigenpairs")
        lowest = next(each for each in pairs["variables"] if each["dimensions"][:2] == ["checkpoint", "pair"])
        self.assertEqual(lowest["shape"][1], 10)
        self.assertIn("--eigenpairs 10 --seed 9", json.dumps(groups))

    def test_names_in_a_list_may_have_blanks_around_them(self):
        self.analyze(checkpoint(0), "--only", " spectrum, condition ,")
        self.assertIn("--only spectrum,condition", self.run_program("inspect", "out.h5").stdout)


class Json(program.Case):
    def test_is_one_document_with_the_headline_numbers(self):
        for options in (["--json"], ["--json", "--quiet"]):
            done = self.run_program(*ANALYZE_ADAM, "--force", *options)
            self.assertEqual((done.returncode, done.stderr), (DONE, ""))
            document = json.loads(done.stdout)
            self.assertEqual((document["command"], document["output"]), ("analyze", "out.h5"))
            self.assertEqual(document["warnings"], [])
            self.assertEqual(set(document["timings"]), {"load_seconds", "hessian_seconds", "eigen_seconds",
                                                        "write_seconds", "total_seconds"})
            self.assertTrue(all(seconds >= 0 for seconds in document["timings"].values()))
            self.assertEqual([c["step"] for c in document["checkpoints"]], list(STEPS))

    def test_numbers_are_whole_where_they_count_and_null_where_undefined(self):
        document = json.loads(self.run_program(*ANALYZE_ADAM, "--json").stdout)
        first, second = document["checkpoints"][:2]
        self.assertEqual(first["spectrum"]["num_dead"], 25)
        self.assertIsInstance(first["spectrum"]["num_dead"], int)
        self.assertIsNone(first["condition"]["robust_eigenvalue"])
        self.assertEqual(first["condition"]["robust_eigenvalue_status"], "undefined_zero_median")
        want = golden(500)
        self.assertTrue(abs(second["loss"] / want["loss"] - 1) < 1e-11)
        self.assertTrue(abs(second["spectrum"]["lambda_max"] / want["eigenvalues"][-1] - 1) < 1e-11)
        self.assertNotIn("robust_eigenvalue_status", second["condition"])

    def test_stays_utf_8_where_a_path_is_not(self):
        (self.folder / os.fsdecode(b"caf\xe9.npz")).write_bytes(checkpoint(0).read_bytes())
        done = subprocess.run([PROGRAM, "inspect", b"caf\xe9.npz", "--json"], cwd=self.folder, capture_output=True,
                              timeout=300)
        self.assertEqual((done.returncode, done.stderr), (DONE, b""))
        self.assertEqual(json.loads(done.stdout)["file"], "caf\ufffd.npz")


class DryRun(program.Case):
    def test_foresees_sizes_memory_and_time_and_writes_nothing(self):
        done = self.run_program(*ANALYZE_ADAM, "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        for line in (r"^parameters +150$", r"^samples +256$", r"^checkpoints +5$", r"^memory +about [\d.]+ [kMG]?B$",
                     r"^time +about .*\d s$", r"^output +out\.h5 \(not written: dry run\)$"):
            self.assertRegex(done.stdout, "(?m)" + line)
        self.assertEqual(self.files(), set())

    def test_in_json(self):
        document = json.loads(self.run_program(*ANALYZE_ADAM, "--dry-run", "--json").stdout)
        self.assertIs(document["dry_run"], True)
        self.assertEqual((document["parameters"], document["samples"], document["checkpoints"]), (150, 256, 5))
        self.assertGreater(document["peak_memory_bytes"], 150 * 150 * 8)
        self.assertGreater(document["seconds"], 0)
        self.assertEqual(self.files(), set())

    def test_says_that_a_run_would_need_force(self):
        (self.folder / "out.h5").write_text("precious")
        self.assertIn("--force", self.run_program(*ANALYZE_ADAM, "--dry-run").stdout)
        self.assertEqual((self.folder / "out.h5").read_text(), "precious")

    def test_says_what_a_run_would_refuse(self):
        (self.folder / "out.h5").write_text("precious")
        for force, place in (((), "exists already"), (("--force",), "is there")):
            with self.subTest(force=force):
                reason = f"{place} and is not a result of `hesscope analyze`; choose another output, or replace it by " \
                         "--force --force"
                plan = self.run_program(*ANALYZE_ADAM, *force, "--dry-run")
                self.assertEqual(plan.returncode, DONE)
                self.assertIn(f"out.h5 ({reason})", plan.stdout)
                document = json.loads(self.run_program(*ANALYZE_ADAM, *force, "--dry-run", "--json").stdout)
                self.assertEqual(document["output_refusal"], reason)
                run = self.run_program(*ANALYZE_ADAM, *force)
                self.assertEqual(run.returncode, FAILED)
                self.assertIn(reason, run.stderr)
        plan = json.loads(self.run_program(*ANALYZE_ADAM, "--force", "--force", "--dry-run", "--json").stdout)
        self.assertIsNone(plan["output_refusal"])


class Progress(program.Case):
    def on_terminal(self, *options, kind="xterm"):
        """Runs with stderr on a terminal of a kind. Returns the exit code and what the terminal received."""
        master, slave = pty.openpty()
        try:
            process = subprocess.Popen(self.command(*ANALYZE_ADAM, *options), cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=slave, env=self.environment(TERM=kind))
            os.close(slave)
            received = b""
            while True:
                try:
                    part = os.read(master, 4096)
                except OSError:  # how Linux says that the other end is closed
                    break
                if not part:
                    break
                received += part
            process.communicate(timeout=300)
        finally:
            os.close(master)
        return process.returncode, received.decode()

    def test_shows_on_a_terminal_and_is_wiped(self):
        code, received = self.on_terminal()
        self.assertEqual(code, DONE)
        self.assertIn("[1/5] step-000000.npz", received)
        self.assertIn("%", received)
        self.assertNotIn("\n", received)
        self.assertTrue(received.endswith("\r\x1b[K"), repr(received[-80:]))

    def test_is_a_line_every_half_minute_where_none_can_be_wiped(self):
        self.assertEqual(self.on_terminal(kind="dumb"), (DONE, ""))

    def test_is_not_shown_when_quiet(self):
        self.assertEqual(self.on_terminal("--quiet"), (DONE, ""))

    def test_is_not_shown_elsewhere(self):
        self.assertEqual(self.run_program(*ANALYZE_ADAM).stderr, "")


class Interruption(program.Case):
    """A problem of some 3000 parameters and 30000 samples, stopped in the middle of its Hessian."""

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        widths = (20, 40, 40, 10)
        arrays = {}
        for i, (n_in, n_out) in enumerate(zip(widths, widths[1:])):
            arrays[f"layers.{i}.weight"] = random.standard_normal((n_out, n_in)) / np.sqrt(n_in)
            arrays[f"layers.{i}.bias"] = np.zeros(n_out)
        self.write_checkpoint("step-1.npz", arrays)
        np.savez(self.folder / "eval.npz", inputs=random.standard_normal((30000, 20)),
                 target=random.integers(0, 10, 30000))
        (self.folder / "problem.toml").write_text(
            '[model]\nkind = "mlp"\nactivation = "tanh"\nloss = "cross-entropy"\n[data]\nfile = "eval.npz"\n')
        self.inputs = self.files()

    def stop(self, number, hears=True):
        """Stops a run. Without `hears` its stderr is closed, and nothing is known of its message."""
        arguments = ("analyze", "step-1.npz", "--problem", "problem.toml", "-o", "out.h5")
        code, message = self.stopped(number, arguments, "out.h5", 'exec "$@"' if hears else 'exec "$@" 2>&-')
        if hears:
            self.assertRegex(message, r"^hesscope analyze: interrupted; .*'out.h5.units'.*\n"
                                      r"  hesscope analyze step-1.npz --problem problem.toml -o out.h5 --threads 2\n$")
        return code

    def stopped(self, number, arguments, output_file, shell='exec "$@"', unheeded=()):
        """The exit code and stderr of a run that is sent signals in the middle of its work, the last of them stops it."""
        command = ["sh", "-c", shell, "sh", *self.command(*arguments, "--threads", "2")]
        before = self.files()
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 120
            # The first unit appears when the inputs are read and the work begins; of a run that goes on it is there
            # already, and its lock is what is new.
            has_begun = lambda: (self.folder / f"{output_file}.units/000000-root.unit").exists() and self.files() > before
            while not has_begun() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.3)
            self.assertIsNone(process.poll(), "finished too early to be interrupted")
            self.assertGreater(self.files(), before)
            for each in (*unheeded, number):
                process.send_signal(each)
                time.sleep(0.1)
            output, message = process.communicate(timeout=120)
        finally:
            process.kill()
            process.wait()
        self.assertEqual(output, "")
        self.assertNotIn(output_file, self.files())
        return process.returncode, message

    def test_by_control_c_names_the_command_that_goes_on(self):
        self.assertEqual(self.stop(signal.SIGINT), INTERRUPTED)
        command = ["analyze", "step-1.npz", "--problem", "problem.toml", "-o", "out.h5"]
        self.assertIn("begun", self.run_program(*command, "--dry-run").stdout)

    def test_by_closing_the_terminal(self):
        self.assertEqual(self.stop(signal.SIGHUP), 128 + signal.SIGHUP)
        self.assertEqual(self.stop(signal.SIGHUP, hears=False), 128 + signal.SIGHUP)

    def test_not_by_closing_the_terminal_under_nohup(self):
        code, _ = self.stopped(signal.SIGTERM, ("analyze", "step-1.npz", "--problem", "problem.toml", "-o", "out.h5"),
                               "out.h5", 'trap "" HUP; exec "$@"', unheeded=[signal.SIGHUP])
        self.assertEqual(code, 128 + signal.SIGTERM)

    def test_names_paths_as_a_shell_wants_them(self):
        (self.folder / "a b").mkdir()
        for name, new in (("step-1.npz", "a b/step-1 [x].npz"), ("problem.toml", "a b/it's.toml")):
            os.rename(self.folder / name, self.folder / new)
        (self.folder / "eval.npz").rename(self.folder / "a b" / "eval.npz")
        arguments = ("analyze", "a b/step-1 [x].npz", "--problem", "a b/it's.toml", "-o", "out (1).h5")
        message = self.stopped(signal.SIGINT, arguments, "out (1).h5")[1]
        line = message.splitlines()[1]
        self.assertEqual(shlex.split(line), ["hesscope", *arguments, "--threads", "2"])
        self.assertIn(" -o 'out (1).h5'", line)

    def test_by_a_request_to_terminate_leaves_what_is_finished(self):
        self.assertEqual(self.stop(signal.SIGTERM), 128 + signal.SIGTERM)
        self.assertEqual(self.files() - self.inputs,
                         {"out.h5.units", "out.h5.units/configuration", "out.h5.units/000000-root.unit"})


if __name__ == "__main__":
    program.main()
