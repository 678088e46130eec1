#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: update.sh VERSION. Takes plotly.min.js and its licence from npm.
set -euo pipefail
version=$1
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "plotly.js-dist-min@$version" | xargs tar -xzf
gzip -9nc package/plotly.min.js >"$here/plotly.min.js.gz"
(cd package && sha256sum plotly.min.js) >"$here/plotly.min.js.sha256"
cp package/LICENSE "$here/LICENSE"
sed -i "s/version [0-9.]*[0-9]/version $version/" "$here/README.md"
