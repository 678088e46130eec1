# SPDX-License-Identifier: BSD-3-Clause
# For the scripts that build hesscope: sourced, not run.

# step TEXT COMMAND...: runs a command and reports it in one line; shows its output only if it fails, and then ends
# the script. On a terminal, the line counts along with ninja. Standard input is left alone, because sudo may have to
# ask.
step() {
  local text=$1 log start=$SECONDS counter=
  shift
  log=$(mktemp)
  printf '%s ... ' "$text"
  if [[ -t 1 ]]; then
    show_count "$text" "$log" &
    counter=$!
  fi
  local failed=0
  "$@" >"$log" 2>&1 || failed=1
  if [[ $counter ]]; then
    kill "$counter" 2>/dev/null || true
    wait "$counter" 2>/dev/null || true
    printf '\r\033[K%s ... ' "$text"
  fi
  if ((failed)); then
    printf 'failed\n'
    cat "$log" >&2
    printf '\nfailed: %s\n' "$*" >&2
    rm -f "$log"
    exit 1
  fi
  printf 'done (%d s)\n' $((SECONDS - start))
  rm -f "$log"
}

# show_count TEXT LOG: shows the last [17/53] of a log until the log or the script is gone (Ctrl-C does not end this).
show_count() {
  local count
  while sleep 1 && kill -0 $$ 2>/dev/null && [[ -e $2 ]]; do
    count=$(grep -o '^\[[0-9]*/[0-9]*\]' "$2" | tail -n 1) || continue
    printf '\r\033[K%s ... %s ' "$1" "$count"
  done
}

# num_compilers: how many may run at a time: one per core, and for each, the 3 GB that a batch of sources takes.
num_compilers() {
  local cores in_memory
  cores=$(nproc)
  in_memory=$(awk '/^MemAvailable:/ { print int($2 / 3e6) }' /proc/meminfo)
  echo $((in_memory < 1 ? 1 : in_memory < cores ? in_memory : cores))
}
