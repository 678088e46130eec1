#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time and memory of exact Hessians of imported models beside PyTorch's, as a table in Markdown.

FOLDER holds a folder for each model, as tests/fixtures/onnx-models does: problem.toml, eval.npz and step-*.npz or
step-*.onnx. Of each checkpoint hesscope and PyTorch compute the Hessian in turn, each time in a process of its own;
PyTorch in the way that is the fastest for the model, and once by rows, one after the other. A GFLOP is the time of as
much of a square dgemm on as many threads, measured in the same rounds. Memory is by how much the first Hessian raises
the peak over what the process holds after one gradient. Exit status: 0; 1 if one fails or the two Hessians differ.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "tests" / "fixtures" / "onnx-models"
TOLERANCE = 1e-13  # of ||H||_F
NUM_ROUNDS = 3


def report_of(command):
    done = subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def two_digits(number):
    """Of a number above 0, without an exponent unless it is tiny: 110, 0.031."""
    return f"{float(f'{number:.2g}'):g}"


def compare(peer, folder, checkpoint, threads, scratch):
    """A row of the table."""
    prefix, output = scratch / "hesscope", scratch / "torch"
    hesscope = [peer, folder / "problem.toml", checkpoint, prefix, threads]
    parameters = report_of(hesscope)["parameters"]
    torch = [sys.executable, HERE / "onnx_torch_peer.py", folder, checkpoint, prefix, json.dumps(parameters), output,
             threads]
    ways = {way: seconds for way, seconds in report_of(torch)["ways"].items() if not math.isnan(seconds)}
    way = min(ways, key=ways.get)
    by_rows = report_of([*torch, "by rows"])
    rounds = [(report_of(hesscope), report_of([*torch, way])) for _ in range(NUM_ROUNDS)]
    ours, theirs = np.fromfile(f"{prefix}.hessian"), np.fromfile(output)
    times = [(statistics.median(a["seconds"]), statistics.median(b["seconds"])) for a, b in rounds]
    return {
        "model": f"{folder.name}, {checkpoint.stem}",
        "parameters": sum(math.prod(shape) for _, shape in parameters),
        "samples": rounds[0][0]["num_samples"],
        "way": way,
        "seconds": statistics.median(a for a, _ in times),
        "gflop": [statistics.median(time[who] * rates["gflop_per_second"] for time, (rates, _) in zip(times, rounds))
                  for who in range(2)],
        "ratio": statistics.median(b / a for a, b in times),
        "mebibytes": [statistics.median(pair[who]["bytes"] for pair in rounds) / 2**20 for who in range(2)],
        "by_rows_mebibytes": by_rows["bytes"] / 2**20,
        "by_rows_seconds": statistics.median(by_rows["seconds"]),
        "difference": np.abs(ours - theirs).max() / np.linalg.norm(ours),
        "gflop_per_second": statistics.median(rates["gflop_per_second"] for rates, _ in rounds),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder with the program onnx_peer")
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=FIXTURES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="MODEL")
    arguments = parser.parse_args()

    print("| | parameters | samples | ms | GFLOP | PyTorch, GFLOP | ratio | MiB | PyTorch, MiB | PyTorch's way |"
          " by rows, ratio | by rows, MiB |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    rows, is_good = [], True
    with tempfile.TemporaryDirectory() as scratch:
        for folder in sorted(problem.parent for problem in arguments.folder.glob("*/problem.toml")):
            if arguments.only and folder.name not in arguments.only:
                continue
            for checkpoint in sorted([*folder.glob("step-*.npz"), *folder.glob("step-*.onnx")]):
                row = compare(arguments.build / "onnx_peer", folder, checkpoint, arguments.threads,
                              pathlib.Path(scratch))
                rows.append(row)
                (ours, theirs), (our_mebibytes, their_mebibytes) = row["gflop"], row["mebibytes"]
                numbers = map(two_digits, (1e3 * row["seconds"], ours, theirs, row["ratio"], our_mebibytes,
                                           their_mebibytes))
                slower = map(two_digits, (row["by_rows_seconds"] / row["seconds"], row["by_rows_mebibytes"]))
                print(f"| {row['model']} | {row['parameters']} | {row['samples']} | {' | '.join(numbers)} |"
                      f" {row['way']} | {' | '.join(slower)} |", flush=True)
                if not row["difference"] <= TOLERANCE:
                    print(f"{row['model']}: the Hessians differ by {row['difference']:.0e}", file=sys.stderr)
                    is_good = False
    if not rows:
        parser.error(f"no model with a checkpoint in {arguments.folder}")
    print(f"\nThreads: {arguments.threads}; dgemm {statistics.median(row['gflop_per_second'] for row in rows):.0f}"
          f" GFLOP/s; largest difference {max(row['difference'] for row in rows):.0e} of the norm")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
