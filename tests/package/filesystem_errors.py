# SPDX-License-Identifier: BSD-3-Clause
"""std::filesystem throws nothing that a caller does not know: filesystem_errors.py FOLDER...

Its functions have two forms: one throws filesystem_error, which no docstring names, the other takes a std::error_code.
The library takes the other; what is a matter of paths alone, or of a file_status, has no second form.
"""
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:fs|std::filesystem)::((?:recursive_)?directory_iterator|[a-z_]+)(?: \w+)?\(")
RANGE = re.compile(r"\bfor \([^;{]*: (?:fs|std::filesystem)::((?:recursive_)?directory_iterator)\(")  # its ++ throws
OF_PATHS_ALONE = {"path", "filesystem_error", "begin", "end", "swap", "hash_value"}
OF_STATUS = re.compile(r"\bstatus\b|_status\(")
GIVES_CODE = re.compile(r"\b(error|ignored|none|failure)\b")


def arguments(text, begin):
    """What stands between the parenthesis that opens before `begin` and the one that closes it."""
    depth = 1
    for end in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    return text[begin:]


def throwing_calls(text):
    """(line, function) of each."""
    for call in CALL.finditer(text):
        given = arguments(text, call.end())
        if call[1] in OF_PATHS_ALONE or OF_STATUS.search(given) or GIVES_CODE.search(given):
            continue
        yield text.count("\n", 0, call.start()) + 1, call[1]
    for loop in RANGE.finditer(text):
        yield text.count("\n", 0, loop.start()) + 1, loop[1]


def check_itself():
    for line in ("if (fs::exists(path)) {", "fs::directory_iterator entry(folder);", "std::filesystem::remove(\n  a)",
                 "fs::is_directory(f(error_text()))", "for (auto& e : fs::directory_iterator(folder)) {",
                 "for (const auto& e : std::filesystem::directory_iterator(folder, error)) {"):
        assert list(throwing_calls(line)), line
    for line in ("fs::exists(path, error)", "fs::exists(fs::symlink_status(path, error))", "fs::path(name)",
                 "fs::is_directory(status)", "fs::directory_iterator entry(folder, error), end;"):
        assert not list(throwing_calls(line)), line


def main():
    check_itself()
    files = [file for folder in sys.argv[1:] for file in sorted(pathlib.Path(folder).rglob("*"))
             if file.suffix in (".cc", ".h")]
    assert files, "no sources"
    found = [f"{file}:{line}: std::filesystem::{name}() throws; give it a std::error_code"
             for file in files for line, name in throwing_calls(file.read_text())]
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
