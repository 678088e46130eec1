#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds hesscope and those of its peers that are installed, runs all on the same problems and prints a table;
# installs nothing (cmake/install-packages.sh bench does). Arguments are passed on: --plot FILE.svg, --threads N,
# --only NAME..., --help. Takes some twenty minutes, and needs an idle machine with 24 GiB of memory. gpt runs only if
# --only names it.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/bench"

step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DHESSCOPE_BUILD_APPS=OFF -DHESSCOPE_BUILD_TESTS=OFF
step "building" cmake --build "$build" --parallel "$(num_compilers)" --target hesscope_peers
printf '\n%s\n\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | sort -u), $(nproc) cores"
# The system's interpreter, for which Debian installs python3-torch.
exec /usr/bin/python3 "$root/benchmarks/peers/compare.py" "$build/benchmarks/peers" "$@"
