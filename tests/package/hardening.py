# SPDX-License-Identifier: BSD-3-Clause
"""What HesscopeHardening.cmake asks for is in what was built.

usage: hardening.py READELF PROGRAM LIBRARY...
"""

import re
import subprocess
import sys


def readelf(tool, option, file):
    return subprocess.run([tool, "--wide", option, file], check=True, capture_output=True, text=True).stdout


def is_archive(file):
    with open(file, "rb") as start:
        return start.read(8) == b"!<arch>\n"


def failures(tool, file):
    symbols = readelf(tool, "--symbols", file)
    if not re.search(r"UND __stack_chk_fail\b", symbols):
        yield "no function checks its stack (__stack_chk_fail)"
    if not re.search(r"UND __\w+_chk\b", symbols):
        yield "no call checks the size of its buffer (__*_chk)"
    if is_archive(file):
        return
    if "GNU_RELRO" not in readelf(tool, "--program-headers", file):
        yield "relocations stay writable (no GNU_RELRO)"
    if not re.search(r"\bBIND_NOW\b|\bFlags:.*\bNOW\b", readelf(tool, "--dynamic", file)):
        yield "symbols are bound late, so that their table stays writable (no BIND_NOW)"


def main():
    tool, *files = sys.argv[1:]
    found = [f"{file}: {failure}" for file in files for failure in failures(tool, file)]
    print("\n".join(found) or f"{len(files)} files are hardened")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
