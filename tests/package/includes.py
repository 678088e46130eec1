# SPDX-License-Identifier: BSD-3-Clause
"""Code includes only what stands below it, and a public header nothing that is private or heavy.

A public header (all but those in a folder `internal`) includes standard headers without suffix, those named in
LIGHT, and other public headers, among them Eigen's stand-in. So what it brings along is light, too, whichever way it
comes. Of each name of std it includes the header itself.
A file of a folder includes files of this folder and of those before it in the given order. Only an umbrella, a
header in no folder, includes from all of them; nothing includes an umbrella.
No file calls what takes a vector of zeros and NaN for zero, Eigen's stableNorm() and stableNormalized().

usage: includes.py BASE... -- FOLDER...
  BASE    a directory in which <hesscope/...> is looked for
  FOLDER  hesscope/NAME, in the order that the build gives: the lowest first
"""

import pathlib
import re
import sys

from standard_names import missing_standard_headers

EIGEN = "hesscope/core/eigen.h"  # checks that the library and its user align matrices alike
LIGHT = {
    "time.h",  # timespec, a type of POSIX
}
LOSES_NAN = re.compile(r"\bstableNorm(alize|alized)?\(\)")
INCLUDE = re.compile(r"\s*#\s*include\b\s*(?:([<\"])([^>\"]+)[>\"])?")


def files_of(bases):
    """Name as in #include -> text, of each header and source below the bases."""
    found = {}
    for base in bases:
        for path in sorted(pathlib.Path(base, "hesscope").rglob("*")):
            if path.suffix in (".h", ".cc"):
                found[path.relative_to(base).as_posix()] = path.read_text()
    return found


def includes_of(text):
    """(line number, name or None where a macro stands for it, whether in angle brackets)"""
    for number, line in enumerate(text.splitlines(), 1):
        if match := INCLUDE.match(line):
            yield number, match[2], match[1] == "<"


def is_public(name):
    return name.endswith(".h") and "internal" not in name.split("/")


def folder_of(name):
    """hesscope/NAME, or None for an umbrella."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else None


def heavy(name, included, is_angled, names):
    """Why a public header of this name must not include that, or None."""
    if included in names:
        return None if is_public(included) else "is private"
    if is_angled and (included in LIGHT or re.fullmatch("[a-z_0-9]+", included)):
        return None
    if included == "Eigen/Core":
        return None if name == EIGEN else f"comes by <{EIGEN}>, which sees to its alignment"
    return "is not light: a public header includes the standard library, " + ", ".join(sorted(LIGHT))


def failures(texts, folders):
    """One line for each include that breaks a rule."""
    level = {folder: i for i, folder in enumerate(folders)}
    for folder in folders:
        if not any(folder_of(name) == folder for name in texts):
            yield f"{folder}: has no file, although the build names it"
    for name, text in texts.items():
        own = folder_of(name)
        if is_public(name):
            yield from (f"{name}: {missing}" for missing in missing_standard_headers(text))
        if own is not None and own not in level:
            yield f"{name}: {own} is not among the folders of the build"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if not line.lstrip().startswith("//") and (lossy := LOSES_NAN.search(line)):
                yield f"{name}:{number}: {lossy[0]} may lose a NaN: those of core/internal/norms.h do not"
        for number, included, is_angled in includes_of(text):
            place = f"{name}:{number}"
            if included is None:
                yield f"{place}: an #include without <name> or \"name\" cannot be checked"
                continue
            if included.startswith("hesscope/"):
                if included not in texts:
                    yield f"{place}: <{included}> does not exist"
                    continue
                target = folder_of(included)
                if target is None:
                    yield f"{place}: <{included}> is the umbrella: include what is needed"
                elif own is not None and level.get(target, -1) > level[own]:
                    yield f"{place}: <{included}>: {own} stands below {target}"
            if is_public(name) and (reason := heavy(name, included, is_angled, texts)):
                yield f"{place}: <{included}> {reason}"


def main():
    split = sys.argv.index("--")
    texts = files_of(sys.argv[1:split])
    folders = sys.argv[split + 1 :]
    found = list(failures(texts, folders))
    num_public = sum(map(is_public, texts))
    print("\n".join(found) or f"{len(texts)} files of {len(folders)} folders, {num_public} of them public headers")
    return 1 if found or num_public == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
