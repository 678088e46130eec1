#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian packages of a build on a bare Debian 12 and works with the program there: analyze, figures as
# SVG, PDF and PNG. Needs root and a minute or two, and fetches some 100 MB from the mirror in HESSCOPE_DEBIAN_MIRROR,
# such as http://deb.debian.org/debian; exit code 77 if one of these is missing.
# usage: bare_debian.sh CPACK BINARY_DIR
set -euo pipefail

cpack=$1 binary=$2
((EUID == 0)) || { echo "needs root"; exit 77; }
mirror=${HESSCOPE_DEBIAN_MIRROR:-}
[[ -n $mirror ]] || { echo "needs HESSCOPE_DEBIAN_MIRROR"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
"$cpack" --config "$binary/CPackConfig.cmake" -G DEB -B "$scratch/made" >/dev/null
if ! mmdebstrap --quiet --variant=apt bookworm "$scratch/root" "$mirror" >"$scratch/log" 2>&1; then
  tail -5 "$scratch/log"
  echo "no Debian from $mirror"
  exit 77
fi
cp "$scratch"/made/hesscope_*.deb "$scratch/root/tmp/"

inside() { chroot "$scratch/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp DEBIAN_FRONTEND=noninteractive "$@"; }
cp /etc/resolv.conf "$scratch/root/etc/resolv.conf"
inside bash -euc '
  cd /tmp
  apt-get -q update
  apt-get -q install -y --no-install-recommends ./hesscope_*.deb
  hesscope --version
  data=/usr/share/hesscope/data/linear-attention
  hesscope analyze "$data/adam" --problem "$data/problem.toml" -o run.h5
  hesscope plot run.h5 --figure spectrum -o spectrum.svg
  # Packages that are only recommended are missing, and the program says so.
  ! hesscope plot run.h5 --figure spectrum -o spectrum.pdf 2>said
  grep -q "apt-get install librsvg2-2" said
  apt-get -q install -y --no-install-recommends librsvg2-2 fonts-dejavu-core
  hesscope plot run.h5 --figure spectrum -o spectrum.pdf
  hesscope plot run.h5 --figure spectrum -o spectrum.png
  test -s /usr/share/doc/hesscope/copyright
  apt-get -q purge -y hesscope
  test ! -e /usr/bin/hesscope
  test ! -e /usr/share/hesscope
  test ! -e /usr/share/doc/hesscope
' >"$scratch/log" 2>&1 || { tail -30 "$scratch/log"; exit 1; }
grep "^hesscope [0-9]" "$scratch/log"
head -c 5 "$scratch/root/tmp/spectrum.pdf" | grep -q '%PDF-'
echo "works on a bare Debian 12"
