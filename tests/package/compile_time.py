# SPDX-License-Identifier: BSD-3-Clause
"""How long the README's first C++ example takes to compile, against the installed headers.

A user who differentiates a function waits for this each time. The bound is processor time, and the least of
several runs: other work on the machine hardly changes it. A slow machine shows in what <Eigen/Core> alone
takes there, in turns with the example: a machine may be slow for a while.

usage: compile_time.py README PREFIX COMPILER [FLAGS...]
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

BOUND_SECONDS = 3.0
BOUND_OF_EIGEN = 2.0  # times <Eigen/Core> alone, where that makes more than BOUND_SECONDS
NUM_RUNS = 5


def example(readme):
    """The block that makes the Hessian H of rosenbrock, its statements in a main()."""
    blocks = [part.split("```", 1)[0] for part in readme.split("```cpp\n")[1:]]
    [lines] = [block.splitlines() for block in blocks if "hesscope::hessian(rosenbrock" in block]
    includes = [line for line in lines if line.startswith("#include")]
    statements = [line for line in lines if not line.startswith("#include")]
    return "\n".join([*includes, "int main() {", *statements, "return H(0, 0) == 802.0 ? 0 : 1;", "}\n"])


def processor_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    readme, prefix, *compiler = sys.argv[1:]
    sources = {"example": example(pathlib.Path(readme).read_text()), "eigen": "#include <Eigen/Core>\n"}
    seconds = dict.fromkeys(sources, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for name, text in sources.items():
            source = pathlib.Path(folder, name + ".cc")
            source.write_text(text)
            commands[name] = [*compiler, "-std=c++20", "-O2", f"-I{prefix}/include", "-c", source,
                              "-o", source.with_suffix(".o")]
        for name in [*commands] * NUM_RUNS:
            seconds[name] = min(seconds[name], processor_seconds(commands[name]))
    print(f"the README's example: {seconds['example']:.2f} s of processor time to compile "
          f"({seconds['example'] / seconds['eigen']:.2f} times <Eigen/Core> alone, {seconds['eigen']:.2f} s)")
    return 0 if seconds["example"] < max(BOUND_SECONDS, BOUND_OF_EIGEN * seconds["eigen"]) else 1


if __name__ == "__main__":
    sys.exit(main())
