#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages of the named sections, if any is missing. usage: install-packages.sh SECTION...
set -euo pipefail

list="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/packages.txt"

packages=()
for section in "$@"; do
  mapfile -t found < <(awk -v section="[$section]" '
    /^\[/ { inside = ($0 == section); next }
    inside && NF && !/^#/ { print $1 }' "$list")
  ((${#found[@]})) || { echo "$list: no section [$section]" >&2; exit 2; }
  packages+=("${found[@]}")
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "no apt-get here: taking for granted what these Debian packages hold: ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
((${#missing[@]})) || { echo "all packages are installed"; exit 0; }

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get -q update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -q install -y --no-install-recommends "${missing[@]}"
