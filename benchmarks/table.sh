#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the benchmarks in Release and prints the table of works; installs nothing. Arguments are passed on:
# benchmarks/table.sh --only W1,W2 --threads 1, --instruction-set AVX2, --quick, --help. OPENBLAS_CORETYPE=Haswell
# chooses OpenBLAS's kernels. Needs an idle machine.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/bench"

step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DHESSCOPE_BUILD_APPS=OFF -DHESSCOPE_BUILD_TESTS=OFF
step "building" cmake --build "$build" --parallel "$(num_compilers)" --target hesscope_work_table
printf '\n%s\n\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | sort -u), $(nproc) cores"
exec "$build/benchmarks/hesscope_work_table" "$@"
