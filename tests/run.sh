#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds everything in Release with warnings as errors, and runs the tests.
# Arguments are passed on to ctest: tests/run.sh -L cli, tests/run.sh -LE slow, ...
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/test"

step "installing packages" "$root/cmake/install-packages.sh" build test
step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_UNITY_BUILD=ON -DHESSCOPE_WERROR=ON
step "building" cmake --build "$build" --parallel "$(nproc)"
ctest --test-dir "$build" -j2 --output-on-failure --no-tests=error "$@"
