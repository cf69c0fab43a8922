#!/usr/bin/env bash
# Exported kernels beside plain C, on emulated boards: needs qemu-system-arm.
set -euo pipefail
exec python3 -B "$(dirname "${BASH_SOURCE[0]}")/run.py" --bin "$1/bin"
