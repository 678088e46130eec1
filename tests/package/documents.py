#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the documents name is there.

- A link in a Markdown file leads to a file of the repository, and to a heading of it.
- A test that docs/exactness.md names is a test.
- A block of C++ below a link to an example, in docs/cpp.md, is the part of that file between two marks
  `// [NAME]`, and each part of each example is printed once.
- CITATION.cff is of version 1.2.0 of that format, and of the project's version.

usage: documents.py SOURCE_FOLDER PROJECT_VERSION
       documents.py FOLDER     of installed documents: their links alone
"""
import pathlib
import re
import subprocess
import sys
import textwrap


def markdown_files(source):
    if (source / ".git").exists():
        listed = subprocess.run(["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
                                 "*.md"], capture_output=True, text=True, check=True)
        paths = [source / name for name in listed.stdout.split("\0") if name]
    else:  # an unpacked archive, or what is installed
        paths = [path for path in source.rglob("*.md") if "build" not in path.relative_to(source).parts]
    return [path for path in paths if path.is_file() and "corpus" not in path.parts]


def without_code(text):
    return re.sub(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`", "", text)


def anchors(path):
    """As GitHub makes them of headings, and those that are written as HTML."""
    text = path.read_text()
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def check_links(source):
    num_links = 0
    for path in markdown_files(source):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            num_links += 1
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if not file.exists():
                yield f"{path}: links to {target}, which is not there"
            elif anchor and anchor not in anchors(file):
                yield f"{path}: links to {target}, which has no such heading"
    if num_links == 0:
        yield "no links were found"


def check_tests(source):
    page = source / "docs" / "exactness.md"
    code = "\n".join(path.read_text() for path in (source / "tests").rglob("*_test.cc"))
    tests = {f"{suite}.{name}" for suite, name in re.findall(r"TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", code)}
    named = set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", page.read_text()))
    if not named:
        yield f"{page}: names no tests"
    for name in sorted(named - tests):
        yield f"{page}: names the test {name}, which is not there"


def parts_of(path):
    """What stands between each pair of lines `// [NAME]`, by NAME."""
    pieces = re.split(r"(?m)^ *// \[(\w+)\]\n", path.read_text())
    return {name: textwrap.dedent(pieces[i + 1]).strip() for i, name in enumerate(pieces) if i % 4 == 1}


def check_examples(source):
    guide = source / "docs" / "cpp.md"
    wanted = {(path.name, name): text for path in sorted((source / "examples" / "cpp").glob("*.cc"))
              for name, text in parts_of(path).items()}
    if not wanted:
        yield "no examples were found"
    example = None
    printed = set()
    for heading, link, code in re.findall(r"(?ms)^(## )|\(\.\./examples/cpp/(\w+\.cc)\)|^```cpp\n(.*?)^```$",
                                          guide.read_text()):
        if heading or link:
            example = link
            continue
        places = [place for place, text in wanted.items() if place[0] == example and text == code.strip()]
        if places:
            printed.add(places[0])
        elif example:
            yield f"{guide}: below the link to {example}, the block beginning '{code.splitlines()[0]}' is no part of it"
    for file, name in sorted(set(wanted) - printed):
        yield f"{guide}: does not print the part [{name}] of examples/cpp/{file} as it is there"


def check_citation(source, version):
    path = source / "CITATION.cff"
    keys = dict(re.findall(r"(?m)^([a-z-]+): *(.*)$", path.read_text()))
    for key in ("cff-version", "message", "title", "authors", "version", "license", "type", "abstract"):
        if key not in keys:
            yield f"{path}: has no {key}"
    for key, value in (("cff-version", "1.2.0"), ("version", version), ("type", "software"),
                       ("license", "BSD-3-Clause")):
        if keys.get(key) != value:
            yield f"{path}: {key} is {keys.get(key)}, not {value}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    problems = [*check_links(source)]
    if len(sys.argv) > 2:
        problems += [*check_tests(source), *check_examples(source), *check_citation(source, sys.argv[2])]
    if problems:
        sys.exit("\n".join(problems))
    print("what the documents name is there")


if __name__ == "__main__":
    main()
