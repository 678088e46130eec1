# SPDX-License-Identifier: BSD-3-Clause
"""Files made to harm are refused at once, in little memory, and nothing in them is executed or followed.

Prints a table: what each file took, and what was said about it.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import unittest

import hostile_hdf5  # registers its attacks
import program
from hostile_files import ATTACKS, CANARY, SECRET
from program import BAD_INPUT, IS_SANITIZED, PROBLEM, Measured

assert hostile_hdf5
CPU_SECONDS = 1.0  # rather than wall time, which says how busy the machine is
WALL_SECONDS = 30
MEMORY_KIB = 256 << 10
PLACE = "byte [0-9]+|line [0-9]+"  # every message says where in the file
# What holds no tensor and harms nobody may as well be read: as a checkpoint without tensors.
STRACE = None if IS_SANITIZED else shutil.which("strace")


class HostileFiles(program.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "secret.txt").write_bytes(SECRET)
        self.inside = self.folder / "inside"
        self.inside.mkdir()

    def make(self, name):
        """The file of an attack, alone in its folder."""
        shutil.rmtree(self.inside)
        self.inside.mkdir()
        file, maker, mentions = ATTACKS[name]
        content = maker(self.inside / file)
        if content is not None:
            (self.inside / file).write_bytes(content)
        return file, mentions

    def measure(self, *arguments):
        # A limit in wall time, for what hangs without computing.
        command = ["timeout", str(WALL_SECONDS), *self.command(*arguments)]
        return Measured(command, self.inside, self.environment())

    def check(self, name, done, file, mentions):
        stderr = done.stderr.decode()
        self.assertEqual(done.code, BAD_INPUT, stderr)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(len(stderr.splitlines()), 1, stderr)
        for mention in (file, PLACE, *mentions):
            self.assertRegex(stderr, mention)
        self.assertNotIn(SECRET.decode()[:4], stderr)
        self.assertTrue(stderr.rstrip("\n").isprintable(), stderr)
        self.assertFalse(list(self.folder.rglob(CANARY)), "something was executed")
        if not IS_SANITIZED:
            self.assertLess(done.seconds, CPU_SECONDS)
            self.assertLess(done.kib, MEMORY_KIB)

    def test_each_is_refused(self):
        rows = []
        for name in ATTACKS:
            with self.subTest(name):
                file, mentions = self.make(name)
                done = self.measure("inspect", file)
                message = (done.stderr or done.stdout).decode(errors="replace").splitlines()[:1]
                rows.append(f"{name:45} {done.code:4} {done.seconds:6.2f} s {done.kib / 1024:6.0f} MiB  {message}"[:200])
                self.check(name, done, file, mentions)
        print("\n".join(sorted(rows)), file=sys.stderr)
        self.assertGreaterEqual(len(ATTACKS), 60)
        # What a program took counts from its fork on: this one must stay small for the figures to mean anything.
        if not IS_SANITIZED:
            self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, MEMORY_KIB)

    def test_analyze_refuses_them_too(self):
        for name in ("pickle-os-system", "pickle-stride-of-zero-bomb", "zip-names-twice", "index-parent",
                     "hdf5-external-storage", "safetensors-overlap"):
            with self.subTest(name):
                file, mentions = self.make(name)
                done = self.measure("analyze", file, "--problem", PROBLEM, "-o", "out.h5")
                self.assertEqual(done.code, BAD_INPUT, done.stderr)
                self.check(name, done, file, mentions)
                self.assertFalse((self.inside / "out.h5").exists())

    @unittest.skipUnless(STRACE, "needs strace, and a program without sanitizers")
    def test_no_other_file_is_opened(self):
        log = self.folder / "strace"
        for name in ATTACKS:
            if not re.match("index-|hdf5-(ext|virt|soft|plug)|pickle-(os|pers)|zip-script", name):
                continue
            with self.subTest(name):
                file, _ = self.make(name)
                subprocess.run([STRACE, "-f", "-qq", "-o", log, "-e", "trace=open,openat,execve,connect",
                                *self.command("inspect", file)], cwd=self.inside, env=self.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
                calls = log.read_text()
                opened = set(re.findall(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)"', calls))
                system = ("/lib", "/usr/lib", "/etc/ld.so", "/proc/", "/sys/", "/dev/")
                others = {path for path in opened if not path.startswith(system)} - {file}
                others = {path for path in others if ".so" not in path}
                allowed = {"index-missing": {"nothere.npz"}, "index-symlink-out": {"shard.npz"}}
                self.assertEqual(others, allowed.get(name, set()))
                self.assertEqual(calls.count("execve("), 1, calls)
                self.assertNotIn("connect(", calls)


if __name__ == "__main__":
    program.main()
