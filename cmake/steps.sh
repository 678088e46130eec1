# SPDX-License-Identifier: BSD-3-Clause
# For the scripts that build hesscope: sourced, not run.

# step TEXT COMMAND...: runs a command and says so in one line; shows what it printed only if it fails, and
# then ends the script. Standard input is left alone: sudo may have to ask.
step() {
  local text=$1 log start=$SECONDS
  shift
  log=$(mktemp)
  printf '%s ... ' "$text"
  if "$@" >"$log" 2>&1; then
    printf 'done (%d s)\n' $((SECONDS - start))
    rm -f "$log"
  else
    printf 'failed\n'
    cat "$log" >&2
    printf '\nfailed: %s\n' "$*" >&2
    rm -f "$log"
    exit 1
  fi
}
