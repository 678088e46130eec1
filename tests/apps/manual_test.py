# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages and completion say what the help texts say, and shells and man take them."""
import re
import shutil
import subprocess
import unittest

import program
from program import DONE, FAILED, PROGRAM

FILES = {"bash": "bash-completion/completions/hesscope", "zsh": "zsh/site-functions/_hesscope",
         "fish": "fish/vendor_completions.d/hesscope.fish"}

# Completes the words given, the last of them begun, and prints what is offered.
BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
$(complete -p hesscope | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
true
"""


class Manual(program.Case):
    def setUp(self):
        super().setUp()
        self.share = self.folder / "share"
        self.written = self.run_program("--write-manual", self.share)
        self.assertEqual((self.written.returncode, self.written.stderr), (DONE, ""))

    def help_of(self, *command):
        return self.run_program(*command, "--help").stdout

    def commands(self):
        names = re.findall(r"(?m)^  ([a-z]+) ", self.help_of().split("Commands:")[1].split("\n\n")[0])
        self.assertIn("analyze", names)
        return names

    def options(self, command):
        """Long options of a command, and the values that the help text lists for each."""
        found = dict(re.findall(r"(?m)^  (?:-\w, )?(--[a-z0-9-]+)(?: ([a-z0-9-]+(?:\|[a-z0-9-]+)+))?",
                                self.help_of(command)))
        self.assertIn("--help", found)
        return {name: values.split("|") if values else [] for name, values in found.items()}

    def test_each_file_is_where_it_is_looked_for(self):
        pages = {f"man/man1/hesscope-{command}.1" for command in self.commands()} | {"man/man1/hesscope.1"}
        there = {str(path.relative_to(self.share)) for path in self.share.rglob("*") if path.is_file()}
        self.assertEqual(there, pages | set(FILES.values()))
        self.assertEqual({str(self.share / name) for name in there}, set(self.written.stdout.split()))

    def test_is_written_again(self):
        before = {path: path.read_bytes() for path in self.share.rglob("*") if path.is_file()}
        self.assertEqual(self.run_program("--write-manual", self.share).returncode, DONE)
        self.assertEqual(before, {path: path.read_bytes() for path in self.share.rglob("*") if path.is_file()})

    def test_says_where_it_cannot_be_written(self):
        (self.folder / "file").write_text("")
        self.refuses(FAILED, ("--write-manual", "file"), "file/man/man1", "cannot make the folder")

    def rendered(self, name):
        """A page as man shows it, without a warning of groff's."""
        page = self.share / "man" / "man1" / name
        done = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-rLL=100n", "-P-c", "-P-b", "-P-o", "-P-u", page],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), page)
        return done.stdout

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_pages_have_all_options_and_no_warnings(self):
        for command in self.commands():
            with self.subTest(command):
                page = self.rendered(f"hesscope-{command}.1")
                for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
                    self.assertRegex(page, rf"(?m)^{heading}$")
                for option, values in self.options(command).items():
                    self.assertRegex(page, rf"(?m)^ +(-\w, )?{option}\b")
                    if values:
                        self.assertIn("|".join(values), page)
                examples_and_options = self.help_of(command).split("Examples:\n")[1].split("\nHelp:\n")[0]
                for word in set(examples_and_options.split()):
                    if word != "\\":
                        self.assertIn(word.removesuffix(":"), page, command)
        page = self.rendered("hesscope.1")
        for command in self.commands():
            self.assertIn(f"hesscope-{command}(1)", page)
        self.assertIn("5      finished but a number failed", page)

    def completed(self, *words):
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", self.share / FILES["bash"], "hesscope", *words],
                              capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return set(done.stdout.splitlines())

    def test_bash_completes_commands_options_values_and_files(self):
        commands = self.commands()
        self.assertEqual(self.completed(""), {*commands, "help"})
        self.assertEqual(self.completed("an"), {"analyze"})
        self.assertEqual(self.completed("help", "an"), {"analyze"})
        self.assertEqual(self.completed("--"), {"--help", "--version", "--write-manual"})
        for command in commands:
            with self.subTest(command):
                offered = self.completed(command, "-")
                self.assertEqual({word for word in offered if word.startswith("--")}, set(self.options(command)))
                for option, values in self.options(command).items():
                    if values:
                        self.assertEqual(self.completed(command, option, ""), set(values), option)
        self.assertEqual(self.completed("analyze", "--only", "con"), {"condition"})
        self.assertEqual(self.completed("analyze", "--only", "spectrum,con"), {"spectrum,condition"})
        self.assertEqual(self.completed("plot", "r.h5", "--figure", "sta"), {"stability"})
        self.assertEqual(self.completed("landscape", "--directions", "r"), {"random"})
        for name in ("run.h5", "problem.toml", "step-1.npz", "two words.toml"):
            (self.folder / name).write_text("")
        self.assertEqual(self.completed("analyze", "--problem", ""), {"problem.toml", "two words.toml"})
        self.assertEqual(self.completed("analyze", "--problem", "two"), {"two words.toml"})
        self.assertEqual(self.completed("plot", "r"), {"run.h5"})
        self.assertEqual(self.completed("analyze", "st"), {"step-1.npz"})
        self.assertEqual(self.completed("train", "-o", ""), {"share"})
        self.assertEqual(self.completed("analyze", "--seed", ""), set())

    def test_zsh_has_all_options(self):
        script = (self.share / FILES["zsh"]).read_text()
        for command in self.commands():
            part = script.split(f"\n    {command})\n")[1].split(";;\n")[0]
            for option, values in self.options(command).items():
                self.assertRegex(part, rf"{option}\b")
                if values:
                    self.assertIn(f"({' '.join(values)})", part)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes(self):
        script = f"fpath=({self.share / 'zsh/site-functions'} $fpath); autoload -Uz compinit; compinit -u -D; " \
                 "whence -w _hesscope; print $_comps[hesscope]"
        done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual((done.stdout, done.stderr), ("_hesscope: function\n_hesscope\n", ""))
        done = subprocess.run(["zsh", "-n", self.share / FILES["zsh"]], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_fish_has_all_options(self):
        lines = (self.share / FILES["fish"]).read_text().splitlines()
        for command in self.commands():
            mine = " \n".join(line for line in lines if f"'__fish_seen_subcommand_from {command}'" in line)
            for option, values in self.options(command).items():
                if option != "--help":
                    self.assertRegex(mine, rf" -l {option[2:]} ")
                if values:
                    self.assertIn(f"'{' '.join(values)}'", mine)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        def completed(line):
            script = f"source {self.share / FILES['fish']}; complete -C '{line}'"
            done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True,
                                  cwd=self.folder, env={**self.environment(), "HOME": str(self.folder)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return {line.split("\t")[0] for line in done.stdout.splitlines()}

        self.assertEqual(completed("hesscope an"), {"analyze"})
        self.assertEqual({word for word in completed("hesscope inspect --") if word != "--help"},
                         set(self.options("inspect")) - {"--help"})
        self.assertEqual(completed("hesscope analyze --method "), set(self.options("analyze")["--method"]))
        (self.folder / "problem.toml").write_text("")
        self.assertIn("problem.toml", completed("hesscope analyze --problem "))

    def test_the_help_text_names_it(self):
        self.assertIn("--write-manual DIR", self.help_of())


if __name__ == "__main__":
    program.main()
