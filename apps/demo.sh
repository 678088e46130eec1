#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 to results: installs missing packages, builds hesscope, analyzes the checkpoints in
# data/linear-attention and data/digits, makes a page of each, and says how to view them. It may be run again.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
source "$root/cmake/steps.sh"
build="$root/build/demo"
data="$root/data/linear-attention"
digits="$root/data/digits"
results="$build/results"
hesscope="$build/apps/hesscope"

step "installing packages" "$root/cmake/install-packages.sh" build
step "configuring" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DHESSCOPE_BUILD_TESTS=OFF -DHESSCOPE_BUILD_BENCHMARKS=OFF -DHESSCOPE_MPI=OFF
step "building (five to seven minutes on two cores)" cmake --build "$build" --parallel "$(num_compilers)"

mkdir -p "$results"
for optimizer in adam sgdm; do
  printf '\nCheckpoints of a training run with %s:\n\n' "$optimizer"
  "$hesscope" analyze "$data/$optimizer" --problem "$data/problem.toml" \
    -o "$results/$optimizer.h5" --save-hessian --force
done
printf '\nA convolutional network exported from PyTorch, at every epoch of its training:\n\n'
"$hesscope" analyze "$digits/runs" --key model_state_dict --problem "$digits/problem.toml" \
  -o "$results/digits.h5" --force

"$hesscope" report "$results/sgdm.h5" "$results/adam.h5" --label SGD --label Adam --title "SGD and Adam" \
  -o "$results/optimizers.html" --force --quiet
"$hesscope" report "$results/digits.h5" --title "A CNN on digits" -o "$results/digits.html" --force --quiet

cat <<END

To look at in a browser:
  $results/optimizers.html
  $results/digits.html

The results they are made of, and what is in one:
  $results/adam.h5
  $results/sgdm.h5
  $results/digits.h5
  $hesscope inspect $results/adam.h5

To call the program by its name in this shell:
  export PATH="$build/apps:\$PATH"

Ten minutes from a PyTorch script of your own to such pages: docs/tutorial.md

With netcdf-bin, python3-h5py, python3-xarray and python3-h5netcdf (apt-get install ...), and Debian's Python:
  ncdump -v robust_diagonal $results/adam.h5
  /usr/bin/python3 -c "import h5py; print(h5py.File('$results/adam.h5')['spectrum/lambda_max'][:])"
  /usr/bin/python3 -c "import xarray; print(xarray.open_dataset('$results/adam.h5', group='condition', engine='h5netcdf'))"
END
