# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a problem, which is replaced as a whole."""

import contextlib
import os
import pathlib
import tempfile
import warnings

# What is replaced without asking begins so.
MARK = "# Written by hesscope_torch.save_problem(), which replaces it\n"
UNFINISHED = MARK + "# It was interrupted, so that there is no problem yet: call it again\n"


def is_own(path):
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MARK)) == MARK.encode()


def require_own_folder(folder, names=("problem.toml", "model.onnx", "data.npz")):
    """Raises FileExistsError where files of these names would replace what is none of save_problem()."""
    if is_own(folder / "problem.toml"):
        return
    for path in (folder / name for name in names):
        if path.exists() and not is_own(path):
            raise FileExistsError(f"{path} is there, and none of save_problem(): move it, or choose another folder")


def save_all_or_nothing(problem, folder):
    """Writes and checks in a folder within this one, and renames what is there only if nothing went wrong; returns the path
    of problem.toml."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".save_problem-", dir=folder) as name:
            written = pathlib.Path(name)
            problem.save(written)
            _keep_map_of_others(written, folder)
            _replace(written, folder)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # where somebody else has put a file into it
                folder.rmdir()
        raise
    return folder / "problem.toml"


def _keep_map_of_others(written, folder):
    old, new = folder / "map.toml", written / "map.toml"
    if old.exists() and not is_own(old) and new.exists():
        text = new.read_text(encoding="utf-8").removeprefix(MARK).strip()
        warnings.warn(f"{old} is none of save_problem(), and stays as it is; the model needs, in a map: {text}", stacklevel=4)
        new.unlink()


def _replace(written, folder):
    """Until all files are there, problem.toml is of no problem: so none takes old and new files for those of one model."""
    names = [path.name for path in written.iterdir()]  # large tensors have files of their own, beside model.onnx
    require_own_folder(folder, names)
    unfinished = written / "problem.toml.unfinished"
    unfinished.write_text(UNFINISHED, encoding="utf-8")
    os.replace(unfinished, folder / "problem.toml")
    if is_own(folder / "map.toml"):
        (folder / "map.toml").unlink()
    for name in sorted(names, key=lambda name: name == "problem.toml"):  # which is the last
        os.replace(written / name, folder / name)
