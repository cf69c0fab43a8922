#!/usr/bin/env bash
# Classifies the test split with the command line tool, then with the C++ program.
#
#   examples/digits/demo.sh BUILD_FOLDER
set -euo pipefail

build=${1:?usage: demo.sh BUILD_FOLDER}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

echo "== plimsoll run digits.mlir, 360 images (first columns of each result)"
"$build/bin/plimsoll" run "$here/digits.mlir" --function classify \
  --params "$here/weights.safetensors" --input "@$here/test_images.npy" \
  --output "$scratch/labels.npy" --output "$scratch/probabilities.npy" >"$scratch/printed"
cut -c 1-100 "$scratch/printed"
ls -l "$scratch"/*.npy | awk '{ print "wrote", $NF, "(" $5, "bytes)" }'

if [[ -x "$build/bin/digits" ]]; then
  echo
  echo "== digits"
  "$build/bin/digits" "$here"
fi
