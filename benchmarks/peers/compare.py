#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs hesscope and its peers on the same problems and prints a table in Markdown.

Each peer is a separate process; hesscope runs before and after every other one, and a peer's
ratio is to the hesscope runs around it. Every Hessian is compared with hesscope's. Exit status: 0;
1 if a peer that is installed fails or a Hessian differs.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-10  # of ||H||_F
TITLES = {
    "linear-attention-full": "linear attention, full, L=3 d=5 n=20, 512 prompts",
    "linear-attention-sparse": "linear attention, sparse, L=3 d=5 n=20, 1,000 prompts",
    "mlp": "mlp 2-16-16-3, tanh, cross-entropy, 500 samples",
    "attention": "softmax attention, 784 parameters, 512 sequences",
    "gpt": "GPT of one layer, 15,328 parameters, 4 sequences",
    "cnn": "LeNet-like CNN, 3,090 parameters, 256 images",
    "resnet": "ResNet with BatchNorm, 5,266 parameters, 32 images",
    "lstm": "LSTM of 20 steps, 1,493 parameters, 192 sequences",
    "vit": "vision transformer, 5,018 parameters, 16 images",
}


class Peers:
    def __init__(self, build, folder, threads):
        self.folder, self.threads = folder, str(threads)
        self.commands = {
            "hesscope": [build / "hesscope_peer"],
            "nested ceres::Jet": [build / "ceres_peer"],
            "ADOL-C": [build / "adolc_peer"],
            "PyTorch": [sys.executable, HERE / "torch_peer.py"],
            "PyTorch on prompts": [sys.executable, HERE / "torch_peer.py"],
        }
        subprocess.run([build / "hesscope_peer", "--export", folder], check=True)

    def others(self, problem):
        """The peers of hesscope that know the problem."""
        unknown = {"hesscope"}
        if not problem.startswith("linear-attention"):
            unknown.add("PyTorch on prompts")
            if problem != "mlp":
                unknown |= {"nested ceres::Jet", "ADOL-C"}
        return [peer for peer in self.commands if peer not in unknown]

    def is_installed(self, peer):
        if peer.startswith("PyTorch"):
            probe = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False)
            return probe.returncode == 0
        return self.commands[peer][0].exists()

    def run(self, peer, problem):
        """The peer's report and its Hessian, n x n."""
        output = self.folder / "hessian"
        command = [*self.commands[peer], problem, output, self.threads]
        if peer.startswith("PyTorch"):
            command += [self.folder, "prompts" if peer == "PyTorch on prompts" else "states"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        h = np.fromfile(output)
        n = round(len(h) ** 0.5)
        return json.loads(done.stdout.splitlines()[-1]), h.reshape(n, n)


def compare(peers, problem):
    """Rows of the table: what, threads, seconds, ratio to hesscope, largest difference."""
    rows, around = [], []
    first, reference = peers.run("hesscope", problem)
    before = statistics.median(first["seconds"])
    for peer in peers.others(problem):
        if not peers.is_installed(peer):
            rows.append({"what": peer})
            continue
        report, h = peers.run(peer, problem)
        after = statistics.median(peers.run("hesscope", problem)[0]["seconds"])
        seconds = statistics.median(report["seconds"])
        rows.append({
            "what": report["software"],
            "threads": report["threads"],
            "seconds": seconds,
            "ratio": seconds / ((before + after) / 2),
            "difference": np.abs(h - reference).max() / np.linalg.norm(reference),
        })
        around.append(before)
        before = after
    around.append(before)
    rows.insert(0, {
        "what": first["software"],
        "threads": first["threads"],
        "seconds": statistics.median(around),
        "ratio": 1.0,
    })
    return rows


def markdown(problem, rows):
    lines = [
        f"**{TITLES[problem]}**",
        "",
        "| | threads | seconds | over hesscope | largest difference / ‖H‖ |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        if "seconds" not in row:
            lines.append(f"| {row['what']} | not installed | | | |")
            continue
        difference = f"{row['difference']:.0e}" if "difference" in row else ""
        ratio = f"{row['ratio']:,.0f}" if row["ratio"] >= 10 else f"{row['ratio']:.1f}"
        lines.append(f"| {row['what']} | {row['threads']} | {row['seconds']:.3g} | {ratio} x | {difference} |")
    return "\n".join(lines) + "\n"


def plot(tables, path):
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.fonttype"] = "none"  # text, not outlines
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    figure, axes = pyplot.subplots(len(tables), 1, figsize=(8, 1.9 * len(tables)), squeeze=False, sharex=True)
    for axis, (problem, rows) in zip(axes[:, 0], tables.items()):
        rows = [row for row in rows if "seconds" in row][::-1]
        bars = axis.barh(
            [f"{row['what']}, {row['threads']} thread{'s' if row['threads'] > 1 else ''}" for row in rows],
            [row["seconds"] for row in rows],
            color=["tab:orange" if row["ratio"] == 1.0 else "tab:blue" for row in rows],
        )
        axis.bar_label(bars, [f" {row['ratio']:,.0f} x" for row in rows])
        axis.set_xscale("log")
        axis.set_xlim(right=10 * max(row["seconds"] for table in tables.values() for row in table if "seconds" in row))
        axis.set_title(TITLES[problem], fontsize="medium", loc="left")
    axes[-1, 0].set_xlabel("seconds for the Hessian, logarithmic")
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder with the programs hesscope_peer, ...")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=list(TITLES), default=[name for name in TITLES if name != "gpt"])
    parser.add_argument("--plot", metavar="FILE", help="draw the times (.svg, .png, .pdf)")
    arguments = parser.parse_args()

    tables, is_good = {}, True
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(arguments.build, pathlib.Path(folder), arguments.threads)
        for problem in arguments.only:
            tables[problem] = compare(peers, problem)
            print(markdown(problem, tables[problem]), flush=True)
            for row in tables[problem]:
                if "difference" in row and not row["difference"] <= TOLERANCE:
                    print(f"{problem}: {row['what']} differs by more than {TOLERANCE}", file=sys.stderr)
                    is_good = False
    if arguments.plot:
        plot(tables, arguments.plot)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
