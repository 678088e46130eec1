#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/definitions.md: what results can hold, as the program itself declares it.

usage: docs/definitions.py PROGRAM > docs/definitions.md
"""
import json
import re
import subprocess
import sys
import textwrap

GENERAL = ["ok", "not_computed", "non_finite", "failed"]

HEAD = """\
<!-- Written by docs/definitions.py from `hesscope inspect --quantities --json`. Do not edit: change
     the declarations in analyzers/hesscope, then run
     docs/definitions.py build/PRESET/apps/hesscope > docs/definitions.md -->
# Definitions

Every quantity that a result can hold, group by group: the same words as in the attributes
`long_name`, `definition` and `references` of the result itself, and as
`hesscope inspect --quantities` prints them. [results.md](results.md) explains how to read a result,
and which numbers to look at first.

L is the mean loss over the data, g its gradient and H its Hessian by the n parameters theta,
||A||_F a Frobenius norm, |x| a Euclidean norm, eps the machine epsilon 2^-52. Numbers are float64
and without a unit unless it is given. A number that is missing is NaN, and `NAME_status` says why,
once for all numbers of a checkpoint. Every number can be `ok`, `not_computed`, `non_finite` or
`failed`; the column *undefined* lists what else its status can be.
[What they mean](results.md#missing-numbers).
"""

COMMANDS = {
    ("analyze", ""): "The root of every result, of analyses, landscapes and paths.",
    ("landscape", "landscape"): "What `hesscope landscape` measures on a line or a plane; the root is as above.",
    ("path", "path"): "What `hesscope path` finds between two checkpoints; the root is as above.",
    ("train", ""): "The root of the `history.h5` that `hesscope train` leaves in the folder of each run. "
                   "An experiment can ask for groups of analyzers, too: as above, along `step`.",
}


def escaped(text):
    return re.sub(r"([|*<])", r"\\\1", text)


def key_of(reference):
    """A reader's name for a paper: "Cohen et al. (2021)"."""
    authors, year = re.match(r"(.*?) \((\d{4})\),", reference).groups()
    surnames = re.sub(r"\b(?:-?[A-Z]\. ?)+", "", authors)
    return f"{surnames} ({year})"


def anchor_of(reference):
    return re.sub(r"[^a-z0-9]+", "-", key_of(reference).lower()).strip("-")


def link_of(reference):
    text = escaped(reference)
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", text)


def filled(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def row(variable):
    name = f"`{variable['name']}`"
    if variable["type"] == "int64":
        name += ", a count"
    if variable["units"] != "1":
        name += f", in {variable['units']}"
    definition = f"**{escaped(variable['long_name'])}**: {escaped(variable['definition'])}"
    if variable["flag_meanings"]:
        codes = ", ".join(f"{code} `{name}`" for code, name in enumerate(variable["flag_meanings"]))
        definition += f". Codes: {codes}"
    undefined = [status for status in variable["statuses"] if status not in GENERAL]
    sources = [f"[{key_of(each)}](#{anchor_of(each)})" for each in variable["references"]]
    return "| {} | {} | {} | {} | {} |".format(
        name, ", ".join(variable["dimensions"]) or "-", definition,
        ", ".join(f"`{status}`" for status in undefined), "; ".join(sources))


def title_of(group):
    if group["command"] == "train":
        return "history.h5"
    return f"/{group['name']}" if group["name"] else "The root"


def slug_of(title):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-")


def section(group):
    about = COMMANDS.get((group["command"], group["name"]))
    if about is None:
        question = group["question"]
        about = question[0].upper() + question[1:] + "."
    lines = [f"## {title_of(group)}", "", filled(about), "",
             "| quantity | along | definition | undefined | source |", "|---|---|---|---|---|"]
    return "\n".join(lines + [row(variable) for variable in group["variables"]]) + "\n"


def sources(groups):
    cited = {reference for group in groups for variable in group["variables"] for reference in variable["references"]}
    lines = ["## Sources", ""]
    for reference in sorted(cited, key=lambda each: (key_of(each), each)):
        lines += [f'- <a id="{anchor_of(reference)}"></a>']
        lines += textwrap.wrap(link_of(reference), 98, initial_indent="  ", subsequent_indent="  ",
                               break_long_words=False, break_on_hyphens=False)
    keys = [anchor_of(reference) for reference in cited]
    if len(set(keys)) != len(keys):
        sys.exit(f"two sources have one name: {sorted(keys)}")
    return "\n".join(lines) + "\n"


def document(program):
    listed = subprocess.run([program, "inspect", "--quantities", "--json"], capture_output=True, text=True, check=True)
    groups = json.loads(listed.stdout)["groups"]
    contents = ", ".join(f"[{title_of(group)}](#{slug_of(title_of(group))})" for group in groups)
    return "\n".join([HEAD, filled(f"Groups: {contents}; [sources](#sources).") + "\n",
                      *map(section, groups), sources(groups)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(document(sys.argv[1]))
