#!/bin/bash
# All that a GPU can show: tests of drivers, conformance against the oracle of the host, times of kernels, and of
# PyTorch's for the same if it is there. Needs a build, or its programs in a folder, and the device.
#
#   bench/gpu/run.sh [DEVICE [BUILD]]      cuda0 and build/ unless told; one folder alone is BUILD
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ $# -eq 1 && -d $1 ]]; then set -- cuda0 "$1"; fi # as ./dev bench does
device=${1:-cuda0}
build=${2:-build}
find_program() { find "$build" -type f -name "$1" -perm -u+x | head -n 1; }
plimsoll=$(find_program plimsoll)
status=0

echo "== $device"
if ! "$plimsoll" targets host | grep -A 8 "^device $device "; then
  echo "this machine has none"
  exit 0
fi
echo "== drivers"
"$(find_program devices_drivers_test)" --gtest_brief=1 --gtest_filter="*/$([[ $device == cuda* ]] && echo Cuda || echo Vulkan)" || status=1
echo "== conformance"
python3 -B tests/conformance/run.py "$plimsoll" tests/conformance --jobs "$(nproc)" --threads 2 \
  --no-reference "--flags=--device $device --isolation none" "--oracle-flags=--isolation none" || status=1
echo "== products"
python3 -B tests/gpu/products.py "$plimsoll" "$device" --jobs "$(nproc)" \
  "--flags=--device $device --isolation none" "--oracle-flags=--isolation none" || status=1
if PYTHONPATH=$build/python python3 -c 'import numpy, plimsoll' 2> /dev/null; then
  for kind in contractions convolutions networks quantised attention; do
    echo "== random $kind"
    PYTHONPATH=$build/python python3 -B "tests/random/$kind.py" --seed 1 --count 25 --device "$device" || status=1
  done
fi
echo "== kernels"
"$(find_program GpuKernels)" --device="$device" || status=1
if [[ $device == cuda* ]] && python3 -c 'import torch' 2> /dev/null; then
  echo "== PyTorch"
  python3 bench/gpu/peers.py
fi
exit $status
