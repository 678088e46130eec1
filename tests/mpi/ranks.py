# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ranks share: mpirun with hesscope-mpi, or with another program."""
import contextlib
import os
import pathlib
import subprocess

import program
from program import DONE

RANKED = os.environ["HESSCOPE_MPI_PROGRAM"]
MPIEXEC = os.environ["HESSCOPE_MPIEXEC"]


class Ranks(program.Case):
    def environment(self, **changes):
        # More ranks than cores, by any user.
        return super().environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                   OMPI_MCA_rmaps_base_oversubscribe="1", **changes)

    def ranked(self, count, arguments, name=RANKED):
        return ["-n", str(count), name, *map(str, arguments), "--threads", "1"]

    def start(self, *groups, **environment):
        """mpirun with groups of arguments, one behind the other."""
        command = [MPIEXEC]
        for k, group in enumerate(groups):
            command += [":", *group] if k else group
        return subprocess.Popen(command, cwd=self.folder, text=True, env=self.environment(**environment),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def processes(self, started):
        """The ranks of hesscope-mpi that mpirun has started so far."""
        children = pathlib.Path(f"/proc/{started.pid}/task/{started.pid}/children")
        return [int(pid) for pid in children.read_text().split()
                if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(RANKED)]

    def number_of(self, process):
        """Of a rank that runs: 0 for the first."""
        environment = pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        return next(int(each.split(b"=")[1]) for each in environment if each.startswith(b"OMPI_COMM_WORLD_RANK="))

    def kill(self, rank, how):
        """Sends a signal to a rank, which may have ended since it was looked for: mpirun ends after its ranks."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, how)

    def run_ranks(self, count, arguments, expect=DONE):
        return self.finish(self.start(self.ranked(count, arguments)), expect)

    def finish(self, process, expect):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, expect, err)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def plain(self, arguments):
        """The bytes that hesscope itself makes."""
        done = self.run_program(*arguments, "-o", "plain.h5", "--force")
        self.assertEqual(done.returncode, DONE, done.stderr)
        return (self.folder / "plain.h5").read_bytes()
