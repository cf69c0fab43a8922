#!/bin/sh
# Kernels of loops beside clang; whole models beside ONNX Runtime, from files and from descriptions, and single operators, where ./dev bench peers has fetched it. Takes the build folder, which has the package.
build=$1
shift
library=$build/bench/onnxruntime/libonnxruntime.so.1
mkdir -p "$build/bench/results"
export PYTHONPATH="$build/python"
/usr/bin/python3 -B "$(dirname "$0")/kernels.py" --json "$build/bench/results/peers.kernels.json"
if ! [ -f "$library" ]; then
  echo "no ONNX Runtime: whole models are left out"
  exit 0
fi
/usr/bin/python3 -B "$(dirname "$0")/files.py" "$library" --json "$build/bench/results/peers.files.json" "$@"
/usr/bin/python3 -B "$(dirname "$0")/operators.py" "$library" --json "$build/bench/results/peers.operators.json" "$@"
exec /usr/bin/python3 -B "$(dirname "$0")/models.py" "$library" --json "$build/bench/results/peers.models.json" "$@"
