#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds everything in Release with warnings as errors, and runs the tests.
# Arguments are passed on to ctest: tests/run.sh -L cli, tests/run.sh -LE slow, ...; HESSCOPE_MPI=ON in the
# environment builds and tests hesscope-mpi, too.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/test"

mpi="${HESSCOPE_MPI:-OFF}"
sections=(build test)
[[ $mpi == OFF ]] || sections+=(mpi elpa)

step "installing packages" "$root/cmake/install-packages.sh" "${sections[@]}"
step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_UNITY_BUILD=ON -DHESSCOPE_WERROR=ON -DHESSCOPE_MPI="$mpi"
step "building" cmake --build "$build" --parallel "$(num_compilers)"
# Idle threads of OpenBLAS soon sleep: by default they spin for tens of milliseconds and take cores from other tests.
export OPENBLAS_THREAD_TIMEOUT=4
# One more than the number of cores, because some tests wait for signals, locks or other processes.
ctest --test-dir "$build" -j"$(($(nproc) + 1))" --output-on-failure --no-tests=error "$@"
