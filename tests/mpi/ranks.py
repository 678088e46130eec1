# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of ranks share: mpirun with hesscope-mpi, or with another program."""
import contextlib
import os
import pathlib
import subprocess
import time

import program
from program import DONE

RANKED = os.environ["HESSCOPE_MPI_PROGRAM"]
MPIEXEC = os.environ["HESSCOPE_MPIEXEC"]


class Ranks(program.Case):
    def environment(self, **changes):
        # More ranks than cores, by any user; one that waits leaves its core to others.
        return super().environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", **changes)

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
        return [pid for pid in self.children(started)
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

    def end_of_killed(self, process):
        """(exit code, stderr) of an mpirun of which a rank was killed. Where that was at the rank's start, mpirun of Open
        MPI 4.1 and PMIx 4.2 may end its ranks and then wait for a lock of its own forever (openpmix issue 1233 is its
        like): the code is None then, which says that no rank is left."""
        until = time.monotonic() + 300
        ended_since = None
        while time.monotonic() < until:
            try:
                _, err = process.communicate(timeout=0.5)
                return process.returncode, err
            except subprocess.TimeoutExpired:
                pass
            if any(self.living_children(process)):
                ended_since = None
            elif ended_since is None:
                ended_since = time.monotonic()
            elif time.monotonic() - ended_since > 15:
                process.kill()
                return None, process.communicate()[1]
        left = list(self.living_children(process))
        process.kill()
        return self.fail(f"of ranks that were to end {left} run, and mpirun: {process.communicate()[1]}")

    @staticmethod
    def children(process):
        listed = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        return [int(pid) for pid in listed.read_text().split()]

    def living_children(self, process):
        """Of mpirun, the numbers of those that have not ended."""
        for child in self.children(process):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                if pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                    yield child

    def plain(self, arguments, expect=DONE):
        """The bytes that hesscope itself makes."""
        done = self.run_program(*arguments, "-o", "plain.h5", "--force")
        self.assertEqual(done.returncode, expect, done.stderr)
        return (self.folder / "plain.h5").read_bytes()
