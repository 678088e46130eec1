#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every line of prose in the repository's Markdown, and of comments in its C++, fits into 100 columns.

Tables, code blocks and lines without a space to break at (links, checksums) may be longer. Of code clang-format sees to it.

usage: line_width.py SOURCE_FOLDER
"""
import pathlib
import re
import subprocess
import sys

WIDTH = 100


def long_lines(text):
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        can_be_broken = " " in line.lstrip(" -*0123456789.")
        if not in_code and not line.startswith("|") and can_be_broken and len(line) > WIDTH:
            yield number, len(line)


def long_comments(text):
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > WIDTH and re.match(r" *//+ .* ", line):
            yield number, len(line)


CHECKS = {".md": long_lines, ".h": long_comments, ".cc": long_comments}


def files(source):
    patterns = [f"*{suffix}" for suffix in CHECKS]
    listed = subprocess.run(["git", "-C", source, "ls-files", "-z", *patterns], capture_output=True, text=True)
    if listed.returncode == 0:
        return [source / name for name in listed.stdout.split("\0") if name]
    skipped = {"build", ".git"}  # without git, as in an unpacked archive
    return [path for pattern in patterns for path in source.rglob(pattern)
            if not skipped & set(path.relative_to(source).parts)]


def main():
    source = pathlib.Path(sys.argv[1])
    paths = [path for path in files(source) if path.is_file()]
    for suffix in CHECKS:
        if not any(path.suffix == suffix for path in paths):
            sys.exit(f"{source}: found no {suffix} to check")
    found = [f"{path}:{number}: {width} columns"
             for path in paths for number, width in CHECKS[path.suffix](path.read_text())]
    if found:
        sys.exit("\n".join(found) + f"\nBreak these lines before column {WIDTH + 1}.")
    print(f"{len(paths)} files within {WIDTH} columns")


if __name__ == "__main__":
    main()
