# SPDX-License-Identifier: BSD-3-Clause
"""`cpack -G DEB` makes packages that say whose they are and what they need, and whose program runs where it is unpacked.

usage: debian_package.py CMAKE CPACK BINARY_DIR SOURCE_DIR VERSION
"""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def fields(package):
    """The control fields of a .deb, continuation lines joined."""
    text = run("dpkg-deb", "--field", package)
    return dict(re.findall(r"(?m)^([A-Z][\w-]*): ((?:.*)(?:\n .*)*)", text))


def files(package):
    """Path -> mode of what a .deb holds, folders left out."""
    return {path.removeprefix(".").partition(" -> ")[0]: mode for mode, path in
            re.findall(r"(?m)^(\S{10}) .*? (\./\S.*)$", run("dpkg-deb", "--contents", package)) if mode[0] != "d"}


def vendored(source):
    """What is another's: folders and files that have a licence of their own."""
    found = []
    for top in ("lib", "analyzers"):
        for licence in sorted((source / top).rglob("*LICENSE")):
            whose = licence.parent / "*" if licence.name == "LICENSE" else licence.with_suffix("")
            found.append((whose.relative_to(source).as_posix(), licence.read_text()))
    return found


def check_legal(root, name, version, source):
    folder = root / "usr/share/doc" / name
    paragraphs = (folder / "copyright").read_text().split("\n\n")
    by_files = {re.match(r"Files: (.*)", p)[1]: p for p in paragraphs if p.startswith("Files: ")}
    assert paragraphs[0].startswith("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    expected = [("*", (source / "LICENSE").read_text()), *vendored(source)]
    assert sorted(files for files, _ in expected) == sorted(by_files), by_files.keys()
    assert len(expected) >= 2, "onnx.proto is the ONNX Project's"
    for whose, licence in expected:
        paragraph = by_files[whose]
        assert re.search(r"(?m)^Copyright: \S", paragraph) and re.search(r"(?m)^License: \S+$", paragraph), paragraph
        words = [word for word in licence.split()]
        assert [w for w in paragraph.split("License: ", 1)[1].split()[1:] if w != "."] == words, whose
    assert "License: Apache-2.0" in by_files["lib/hesscope/onnx/internal/onnx.proto"]
    changelog = gzip.decompress((folder / "changelog.gz").read_bytes()).decode()
    assert re.match(rf"hesscope \({re.escape(version)}\) unstable; urgency=\w+\n\n  \* ", changelog), changelog[:200]
    assert re.search(r"\n -- [^<>]+ <[^<>]+>  \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000\n$", changelog)


def check_program(root, scratch):
    """As it was unpacked, from a folder with a blank in its name and with nothing else of the package's."""
    program, data = root / "usr/bin/hesscope", root / "usr/share/hesscope/data/linear-attention"
    result = scratch / "a result.h5"
    run(program, "analyze", data / "adam", "--problem", data / "problem.toml", "--only", "spectrum,condition", "-q",
        "-o", result)
    run(program, "plot", result, "--figure", "condition", "-q", "-o", scratch / "figure.svg")
    assert (scratch / "figure.svg").read_bytes().startswith(b"<?xml")
    run("/usr/bin/python3", "-B", "-c", "import sys; sys.path.insert(0, sys.argv[1]); import hesscope; "
        "assert hesscope.open(sys.argv[2])['spectrum/lambda_max'].shape == (5,); "
        "assert hesscope.analyze(*sys.argv[3:], '--only', 'spectrum')['spectrum/lambda_max'].shape == (5,)",
        root / "usr/share/hesscope", result, data / "adam", data / "problem.toml")


def main(cmake, cpack, binary, source, version):
    binary, source = pathlib.Path(binary), pathlib.Path(source)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="hesscope test "))
    try:
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        run(cpack, "--config", binary / "CPackConfig.cmake", "-G", "DEB", "-B", scratch / "made", env=environment)
        made = {fields(package)["Package"]: package for package in (scratch / "made").glob("*.deb")}
        assert set(made) == {"hesscope", "libhesscope-dev"}, made
        for name, package in made.items():
            assert package.name.startswith(f"{name}_{version}_"), package.name
            control = fields(package)
            assert control["Version"] == version and "@" in control["Maintainer"], control
            check_dependencies = control["Depends"]
            root = scratch / f"unpacked {name}"
            run("dpkg-deb", "--extract", package, root)
            check_legal(root, name, version, source)
            for path, mode in files(package).items():
                assert path.startswith("/usr/") and "hesscope" in path, path
                if mode[0] == "l":
                    unpacked = root / path[1:]
                    assert unpacked.exists() and not os.readlink(unpacked).startswith("/"), path
                else:
                    assert mode == ("-rwxr-xr-x" if path.startswith("/usr/bin/") else "-rw-r--r--"), (mode, path)
            needed = ["libc6 (>=", "libhdf5-103", "libopenblas0", "libtbb12"] if name == "hesscope" else [
                "libeigen3-dev (>= 3.4)", "libhdf5-dev"]
            for need in needed:
                assert need in check_dependencies, (need, check_dependencies)
        assert "librsvg2-2" in fields(made["hesscope"])["Recommends"]
        shared = set(files(made["hesscope"])) & set(files(made["libhesscope-dev"]))
        assert not shared, shared  # else one could not be installed beside the other
        # Together they are what is installed without them, so that nothing belongs to no package.
        run(cmake, "--install", binary, "--prefix", scratch / "installed")
        installed = {f"/usr/{path.relative_to(scratch / 'installed')}"
                     for path in (scratch / "installed").rglob("*")
                     if path.is_file() or path.is_symlink()}
        packaged = {path for package in made.values() for path in files(package)}
        assert {path for path in packaged if "/doc/libhesscope-dev/" not in path} == installed, packaged ^ installed
        assert any(path.endswith("/hesscopeConfig.cmake") for path in files(made["libhesscope-dev"]))
        assert not any(path.endswith((".a", ".h")) for path in files(made["hesscope"]))
        program = scratch / "unpacked hesscope/usr/bin/hesscope"
        assert run(program, "--version") == f"hesscope {version}\n"
        assert b".symtab" not in program.read_bytes()  # stripped
        check_program(scratch / "unpacked hesscope", scratch)
        # dpkg takes both, whether what they need is there or not.
        admin = scratch / "root"
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"):
            (admin / folder).mkdir(parents=True)
        (admin / "var/lib/dpkg/status").touch()
        if os.geteuid() == 0:
            said = subprocess.run(["dpkg", f"--root={admin}", "--force-depends", "--install", *map(str, made.values())],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert said.returncode == 0, said.stdout
            states = run("dpkg-query", f"--admindir={admin / 'var/lib/dpkg'}", "--show", "-f", "${Package} ${db:Status-Abbrev}\n")
            assert states.split() == ["hesscope", "ii", "libhesscope-dev", "ii"], states
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
