#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the fuzz targets and runs each of them for SECONDS (60), one on each core, from the corpora in
# tests/fuzz/corpus. Prints what was executed; fails on any finding, whose input is then kept in build/asan/findings.
# With HESSCOPE_FUZZ_SEED set, the inputs are the same each time, but their number depends on the time.
# usage: tests/fuzz/run.sh [SECONDS]
#        tests/fuzz/run.sh merge FOLDER   puts into tests/fuzz/corpus/TARGET the smallest inputs, of those there and in
#                                         FOLDER/TARGET, that reach as much
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
source "$root/cmake/steps.sh"
here="$root/tests/fuzz"
build="$root/build/asan"
targets=(torch zip npz pickle safetensors shard_index toml npy onnx)
# Inputs of a few kilobytes reach everything. Each takes milliseconds, and none needs much memory.
limits=(-max_len=8192 -timeout=20 -rss_limit_mb=1024 -malloc_limit_mb=1024)

dictionaries_of() {
  case $1 in
    torch) echo zip pickle ;;
    npz) echo zip npy ;;
    safetensors | shard_index) echo json ;;
    *) echo "$1" ;;
  esac
}

# run TARGET SECONDS: starts from the corpus in the tree, and does not change it.
run() {
  local target=$1 seconds=$2 work="$build/run/$1" name
  rm -rf "$work"
  mkdir -p "$work/corpus" "$build/findings"
  for name in $(dictionaries_of "$target"); do cat "$here/dictionaries/$name.dict"; done >"$work/dictionary"
  nice "$build/tests/fuzz/fuzz_$target" "${limits[@]}" -max_total_time="$seconds" -dict="$work/dictionary" \
    -artifact_prefix="$build/findings/$target-" -print_final_stats=1 -seed="${HESSCOPE_FUZZ_SEED:-0}" -entropic=0 -print_funcs=0 "$work/corpus" "$here/corpus/$target" \
    >"$work/log" 2>&1 || { echo "$target: FAILED"; tail -n 60 "$work/log"; return 1; }
  awk -v target="$target" '
    /^stat::number_of_executed_units/ { executed = $2 }
    /^stat::average_exec_per_sec/ { rate = $2 }
    /^stat::peak_rss_mb/ { memory = $2 }
    END {
      printf "%-12s %9d executions, %6d per second, at most %4d MiB\n", target, executed, rate, memory
      exit !(executed > 0)
    }' "$work/log"
}

merge() {
  local target=$1 merged small
  merged=$(mktemp -d)
  small=$(mktemp -d) # the tree holds small inputs only
  find "$2/$target" -type f -size -1400c -exec cp -t "$small" {} +
  "$build/tests/fuzz/fuzz_$target" "${limits[@]}" -set_cover_merge=1 -use_counters=0 "$merged" "$here/corpus/$target" "$small" >/dev/null 2>&1
  rm -rf "$small" "${here:?}/corpus/$target"
  mv "$merged" "$here/corpus/$target"
  chmod 755 "$here/corpus/$target"
  echo "$target: $(find "$here/corpus/$target" -type f | wc -l) inputs"
}

step "installing packages" "$root/cmake/install-packages.sh" build test fuzz
step "configuring" cmake -S "$root" --preset asan
step "building" cmake --build "$build" --target fuzzers --parallel "$(num_compilers)"
if [[ ${1-} == merge ]]; then
  for target in "${targets[@]}"; do merge "$target" "$2"; done
  exit
fi

rm -f "$build/failed"
for target in "${targets[@]}"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  { run "$target" "${1:-60}" || touch "$build/failed"; } &
done
wait
if [[ -e "$build/failed" ]]; then
  echo "findings: $build/findings"
  exit 1
fi
echo "no findings"
