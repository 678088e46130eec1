#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Symbols of object files compiled for more than the baseline processor.

An inline function that such a file shares with the rest of the program (std::vector's, Eigen's) may be the
copy the linker keeps, and then crashes older processors. So all that they define must carry the
instruction set in its name: a namespace hesscope::avx2 or hesscope::avx512, or a template argument.

usage: kernel_symbols.py NM OBJECT...
"""
import re
import subprocess
import sys

OWN = re.compile(r"hesscope::avx(2|512)::|\(hesscope::InstructionSet\)[12]")
DATA_OF_THE_RUNTIME = re.compile(r"^DW\.ref\.__gxx_personality_v0$")


def foreign_symbols(nm, path):
    out = subprocess.run([nm, "-C", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    defined = [line.split(maxsplit=2) for line in out.splitlines()]
    shared = [name for _, kind, name in defined if kind in "TWVuBDRC"]
    if not shared:
        sys.exit(f"{path}: no symbols seen, the check sees nothing")
    return [name for name in shared if not OWN.search(name) and not DATA_OF_THE_RUNTIME.match(name)]


def main():
    nm, objects = sys.argv[1], sys.argv[2:]
    objects = [path for path in objects if re.search(r"_avx(2|512)\.dir", path)]
    if not objects:
        print("no kernels beyond the baseline in this build")
        return
    foreign = {path: names for path in objects if (names := foreign_symbols(nm, path))}
    for path, names in foreign.items():
        print(path, *names, sep="\n  ")
    sys.exit(1 if foreign else 0)


main()
