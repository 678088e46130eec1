# SPDX-License-Identifier: BSD-3-Clause
"""Compares a folder with the SHA-256 list in its README.md. Experiment files are text to be edited, not data.

usage: checksums.py FOLDER"""
import hashlib
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
listed = {name: digest for digest, name in
          re.findall(r"(?m)^([0-9a-f]{64})  (.+)$", (folder / "README.md").read_text())}
present = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
           for path in folder.rglob("*")
           if path.is_file() and path.name != "README.md" and path.relative_to(folder).parts[0] != "experiments"}
wrong = sorted(name for name in listed.keys() | present.keys() if listed.get(name) != present.get(name))
print(f"{len(listed)} files listed, {len(present)} present; wrong: {wrong}")
sys.exit(bool(wrong) or not listed)
