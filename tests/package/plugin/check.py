# SPDX-License-Identifier: BSD-3-Clause
"""Analyzes with the plug-in and compares with closed forms. usage: check.py HESSCOPE FOLDER_OF_LIBRIDGE"""
import pathlib
import subprocess
import sys

import h5py
import numpy as np

hesscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
numbers = np.random.default_rng(1)
X, y, w = numbers.normal(size=(20, 3)), numbers.normal(size=20), numbers.normal(size=3)
np.savez(folder / "data.npz", inputs=X, target=y)
np.savez(folder / "step-0.npz", weight=w)


def analyze(text, *flags):
    (folder / "problem.toml").write_text(text + '[data]\nfile = "data.npz"\n')
    return subprocess.run([hesscope, "analyze", folder / "step-0.npz", "--problem", folder / "problem.toml",
                           "-o", folder / "out.h5", "--save-hessian", "--only", "hessian", "--force", "--quiet",
                           *flags], capture_output=True, text=True)


def refused(run, code, *words):
    assert run.returncode == code, (run.returncode, run.stderr)
    assert all(word in run.stderr for word in words), run.stderr


ridge = '[model]\nkind = "plugin"\nfile = "libridge.so"\n[model.options]\nlambda = "0.25"\n'
refused(analyze(ridge), 2, "libridge.so", "--allow-plugins")
run = analyze(ridge, "--allow-plugins")
assert run.returncode == 0, run.stderr
with h5py.File(folder / "out.h5") as result:
    H, loss = result["hessian/matrix"][0], result["loss"][0]
expected = 2 * X.T @ X / 20 + 0.5 * np.eye(3)
assert np.linalg.norm(H - expected) <= 1e-14 * np.linalg.norm(expected), H - expected
assert abs(loss - np.mean((X @ w - y) ** 2) - 0.25 * w @ w) <= 1e-14 * loss

# The other commands that make models know the option, too; a plug-in whose sizes are in the data can be trained.
(folder / "problem.toml").write_text(ridge + '[data]\nfile = "data.npz"\n')
(folder / "experiment.toml").write_text(ridge + """[data]
file = "data.npz"
[initialization]
distribution = "constant"
value = 0
[training]
steps = 1
[[run]]
name = "run"
rule = "gd"
learning_rate = 0.1
""")


def used(command, *arguments):
    return subprocess.run([hesscope, command, *arguments], capture_output=True, text=True)


inspected = ("inspect", folder / "step-0.npz", "--problem", folder / "problem.toml")
trained = ("train", folder / "experiment.toml", "-o", folder / "trained", "--force")
for command in inspected, trained:
    refused(used(*command), 2, "libridge.so", "--allow-plugins")
    run = used(*command, "--allow-plugins")
    assert run.returncode == 0, run.stderr
with h5py.File(folder / "trained" / "step-000001.h5") as result:
    expected = 0.1 * 2 * X.T @ y / 20
    assert np.linalg.norm(result["weight"][()] - expected) <= 1e-14 * np.linalg.norm(expected)

refused(analyze(ridge.replace("0.25", "much"), "--allow-plugins"), 3, "libridge.so", "the plug-in failed: stod")

(folder / "text.so").write_text("no library")
refused(analyze(ridge.replace("libridge", "text"), "--allow-plugins"), 3, "text.so", "cannot be loaded")
refused(analyze(ridge.replace("libridge", "none"), "--allow-plugins"), 3, "none.so")
libm = next(pathlib.Path("/usr/lib").glob("*/libm.so.6"))
refused(analyze(ridge.replace("libridge.so", str(libm)), "--allow-plugins"), 3, "hesscope_plugin_v1")
print("ok")
