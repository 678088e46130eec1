# SPDX-License-Identifier: BSD-3-Clause
"""What `cmake --install` leaves works wherever it is put: below DESTDIR, and moved, with blanks in its name.

usage: any_prefix.py CMAKE BINARY_DIR CONSUMER VERSION PKG_CONFIG
  CONSUMER    a project that says find_package(hesscope)
  PKG_CONFIG  pkg-config, or empty
"""

import os
import pathlib
import re
import shutil
import shlex
import subprocess
import sys
import tempfile


def run(*command, environment=None):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def main(cmake, binary, consumer, version, pkg_config):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="hesscope test "))
    try:
        first = scratch / "first place"
        run(cmake, "--install", binary, "--prefix", first)
        # Below DESTDIR there is the same, and nothing outside of it.
        run(cmake, "--install", binary, "--prefix", "/opt/a place", environment={"DESTDIR": str(scratch / "a stage")})
        staged = scratch / "a stage" / "opt" / "a place"
        assert files(staged) == files(first) == {p.relative_to("opt/a place") for p in files(scratch / "a stage")}
        assert not pathlib.Path("/opt/a place").exists()

        moved = scratch / "moved" / "there"
        moved.parent.mkdir()
        first.rename(moved)
        for path in files(moved):  # what is text does not say where it was, or where it was built
            if path.suffix in (".cmake", ".pc", ".h", ".py"):
                text = (moved / path).read_text()
                assert str(first) not in text and str(binary) not in text, path

        data = moved / "share/hesscope/data/linear-attention"
        program = moved / "bin/hesscope"
        assert run(program, "--version") == f"hesscope {version}\n"
        run(program, "analyze", data / "adam", "--problem", data / "problem.toml", "--only", "condition", "-q", "-o",
            scratch / "a.h5")

        build = scratch / "consumer"
        run(cmake, "-S", consumer, "-B", build, f"-DCMAKE_PREFIX_PATH={moved}", "-G", "Unix Makefiles")
        cache = (build / "CMakeCache.txt").read_text()
        found = re.search(r"(?m)^hesscope_DIR:PATH=(.*)$", cache)[1]
        assert pathlib.Path(found).is_relative_to(moved), found
        if pkg_config:
            [folder] = {path.parent for path in moved.rglob("hesscope.pc")}
            flags = shlex.split(run(pkg_config, "--cflags", "--libs-only-L", "hesscope",
                                    environment={"PKG_CONFIG_PATH": str(folder)}))
            headers = [pathlib.Path(f[2:]) for f in flags if f.startswith("-I")]
            libraries = [pathlib.Path(f[2:]) for f in flags if f.startswith("-L")]
            assert any((f / "hesscope/hesscope.h").is_file() for f in headers), flags
            assert any((f / "libhesscope.a").is_file() or list(f.glob("libhesscope.so*")) for f in libraries), flags
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
