# SPDX-License-Identifier: BSD-3-Clause
"""No name is defined twice in one namespace by two files: one_definition.py FOLDER...

Two inline constants, types or functions of one name in one namespace are one to the linker, which takes whichever it
finds first, silently. A compiler sees one file at a time and cannot say so. Names without a namespace, or in an unnamed
one, are each file's own.
"""
import pathlib
import re
import sys

# The formatter puts what opens and closes a namespace, and what is defined in it, at the beginning of a line.
OPENED = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{")
CLOSED = re.compile(r"\}  // namespace")
CONSTANT = re.compile(r"inline (?:constexpr|const|constinit)\b[^=({]*?(\w+)(?:\[[^]]*\])?\s*(?:=|\{|$)")
TYPE = re.compile(r"(?:struct|class|union|enum|enum class)(?: \[\[\w+\]\])? (\w+)(?: final)?(?: : .*)?(?: \{|$)")
ALIAS = re.compile(r"using (\w+) =")
FUNCTION = re.compile(r"(?:[\w:<>,&*\[\]]+ )+[&*]?(\w+\(.*\)) (?:noexcept )?\{")  # with its parameters: there are overloads


def definitions(text):
    """Names with their namespaces, of a file; a template's specializations are its own."""
    namespaces = []
    for line in text.splitlines():
        if opened := OPENED.match(line):
            namespaces.append(opened[1] or "")
        elif CLOSED.match(line):
            namespaces.pop()
        elif namespaces and "" not in namespaces:
            for pattern in (CONSTANT, TYPE, ALIAS, FUNCTION):
                if found := pattern.match(line):
                    yield "::".join([*namespaces, found[1]])
                    break


def repeated(files):
    """(name, file, other file) for what two files define."""
    first = {}
    for file in files:
        for name in dict.fromkeys(definitions(file.read_text())):
            if name in first:
                yield name, first[name], file
            else:
                first[name] = file


def check_itself():
    header = "namespace hesscope::detail {\n%s\n}  // namespace hesscope::detail\n"
    for line in ("inline constexpr int kOne = 1;", "inline constexpr double kTable[] = {1};", "struct Use {",
                 "enum class Kind : int {", "using Uses = std::vector<int>;", "inline int twice(int x) {",
                 "class Tape final : public Base {", "inline constexpr std::array<int, 2> kPair = {1, 2};"):
        assert len(list(definitions(header % line))) == 1, line
    for line in ("struct Use;", "int twice(int x);", "  return f(x) {", "constexpr int kOwn = 1;",
                 "struct Outer::Inner {", "class Jet<2, 3> {"):
        assert not list(definitions(header % line)), line
    assert not list(definitions("namespace {\nstruct Use {\n}  // namespace\n"))


def main():
    check_itself()
    files = sorted(path for folder in sys.argv[1:] for pattern in ("*.h", "*.cc")
                   for path in pathlib.Path(folder).rglob(pattern)
                   if not path.stem.endswith("_unavailable"))  # built instead of another
    assert len(files) > 500, "few files: is this the source?"
    wrong = [f"{name}\n  {first}\n  {second}" for name, first, second in repeated(files)]
    for each in wrong:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
