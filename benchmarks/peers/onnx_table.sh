#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds hesscope and prints the table of imported models' Hessians next to PyTorch's; installs nothing (Debian's
# python3-torch is needed). Arguments are passed on: a folder of models instead of tests/fixtures/onnx-models,
# --threads N, --only MODEL..., --help. Takes some five minutes and needs an idle machine.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/bench"
python=/usr/bin/python3  # the system's, where Debian's python3-torch lives

# Checked before minutes of building.
if ! lacking=$("$python" -c 'import numpy, torch.nn, tomllib' 2>&1); then
  printf '%s: %s: %s\nInstall it, on Debian by: apt install python3-torch\n' \
    "${0##*/}" "$python" "$(tail -n 1 <<<"$lacking")" >&2
  exit 1
fi

step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DHESSCOPE_BUILD_APPS=OFF -DHESSCOPE_BUILD_TESTS=OFF
step "building" cmake --build "$build" --parallel "$(num_compilers)" --target onnx_peer
printf '\n%s\n\n' "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | sort -u), $(nproc) cores"
exec "$python" "$root/benchmarks/peers/onnx_table.py" "$build/benchmarks/peers" "$@"
