#!/usr/bin/env bash
# Makes the network, compiles it for the board, links a program around it, and runs that under an emulator.
#
#   examples/microcontroller/demo.sh BUILD_FOLDER [PYTHON [CLANG]]
set -euo pipefail

build=$(cd "${1:?usage: demo.sh BUILD_FOLDER [PYTHON [CLANG]]}" && pwd)
python=${2:-python3} clang=${3:-clang-22}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$python" -B "$here/make_network.py" .
"$build/bin/microcontroller-export" keywords.mlir keywords.o keywords.h
echo "== keywords.h"
grep -E '^#define|^enum keywords_status keywords_' keywords.h

cpu=(--target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55)
for source in main npu board memory; do
  "$clang" "${cpu[@]}" -std=c11 -Os -ffreestanding -fno-builtin -Wall -Wextra -Wpedantic -Werror -I. -I"$here/../.." \
    -c "$here/$source.c" -o "$source.o"
done
# Code in the board's fast memory, data in the one that both processors reach.
"$clang" "${cpu[@]}" -nostdlib -static -fuse-ld=lld -Wl,-T,"$here/board.ld" -Wl,--defsym=CODE=0x10000000,--defsym=DATA=0x31000000 \
  main.o npu.o board.o memory.o keywords.o -o firmware

echo "== on the board"
qemu-system-arm -M mps3-an547 -display none -monitor none -serial none -chardev stdio,id=out \
  -semihosting-config enable=on,chardev=out -kernel firmware
