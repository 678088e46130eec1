#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the README's pictures again, from the checkpoints in data/linear-attention: docs/images/draw.sh [HESSCOPE]
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
hesscope="${1:-$root/build/demo/apps/hesscope}"
images="$root/docs/images"
data="$root/data/linear-attention"
results="$(mktemp -d)"
trap 'rm -r "$results"' EXIT

"$hesscope" analyze "$data/adam" --problem "$data/problem.toml" --only spectrum -q -o "$results/adam.h5"
"$hesscope" plot "$results/adam.h5" --figure spectrum --width 340 --height 215 -q --force \
  -o "$images/spectrum.svg"

"$hesscope" landscape "$data/adam/step-000500.npz" --problem "$data/problem.toml" --directions eigen \
  --grid 101x101 --span=-0.3:0.3 -q -o "$results/plane.h5"
"$hesscope" plot "$results/plane.h5" --figure landscape --width 340 --height 215 -q --force \
  -o "$images/landscape.svg"
