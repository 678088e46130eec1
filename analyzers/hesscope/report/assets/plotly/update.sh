#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: update.sh VERSION. Takes both bundles and their licence from npm.
set -euo pipefail
version=$1
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for bundle in cartesian gl3d; do
  npm pack --silent "plotly.js-$bundle-dist-min@$version" | xargs tar -xzf
  gzip -9nc "package/plotly-$bundle.min.js" >"$here/plotly-$bundle.min.js.gz"
  (cd package && sha256sum "plotly-$bundle.min.js") >"$here/plotly-$bundle.min.js.sha256"
  cp package/LICENSE "$here/LICENSE"
  rm -r package
done
sed -i "s/version [0-9.]*[0-9]/version $version/" "$here/README.md"
