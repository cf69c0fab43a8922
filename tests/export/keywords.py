#!/usr/bin/env python3
"""The keyword network of examples/microcontroller on machines without its accelerator, and how good the plan of its workspace is.

  PYTHONPATH=build/python tests/export/keywords.py --bin build/bin [--machine NAME ...]

On each machine every score is that of NumPy, and that of the engine here. The workspace of its header is at most 1.05 times what the planner finds for
the same buffers when it searches without end. Exit status 1 if not.
"""
import re
import subprocess
import sys

import numpy as np
import plimsoll

import run as export
from run import BOARD

MOST = 1.05
PROGRAM = """#include "case.h"
#include "expected.h"
#include "input.h"
#include "tests/export/support.h"
static _Alignas(CASE_WORKSPACE_ALIGNMENT) uint8_t memory[CASE_WORKSPACE_BYTES];
static int32_t scores[CASE_HEAR_RESULT0_ELEMENTS];
int run_case(void) {
  const struct case_workspaces workspaces = {memory};
  return (int)case_hear(&workspaces,%s input, scores);
}
void print_results(void) { print_bytes((const uint8_t *)scores, sizeof scores); }
"""


def array(path):
    text = path.read_text()
    kind = {"int8_t": np.int8, "int32_t": np.int32}[re.search(r"const (\w+) ", text)[1]]
    return np.array([int(each) for each in re.search(r"\{(.*)\}", text)[1].split(",")], kind)


def best_peak(plimsoll_program, ir, folder):
    """Of the slab's buffers, as the IR behind the stage Memory has them: what the planner finds, if it proves that nothing is better."""
    rows = ["id,lower,upper,size"]
    function = re.search(r"^  func\.func @hear.*?^  }$", ir, re.S | re.M)[0]
    for alloc in re.finditer(r"plim\.alloc\([^{]*\{([^}]*)\}", function):
        life = re.search(r"lifetime = array<i64: (\d+), (\d+)>", alloc[1])
        size = re.search(r"bytes = (\d+)", alloc[1])
        if life and size and 'scope = "global.workspace"' in alloc[1]:
            rows.append(f"{len(rows)},{life[1]},{life[2]},{(int(size[1]) + 63) // 64 * 64}")
    for lower, upper, size in re.findall(r"plim\.scratch_plan = array<i64: (\d+), (\d+), (\d+)>", function):
        rows.append(f"{len(rows)},{lower},{upper},{(int(size) + 63) // 64 * 64}")
    (folder / "plan.csv").write_text("\n".join(rows) + "\n")
    said = subprocess.run([plimsoll_program, "plan", "plan.csv", "--time", "20"], capture_output=True, text=True, check=True, cwd=folder)
    if "status: optimal" not in said.stdout:
        raise RuntimeError(f"no best plan: {said.stdout}")
    return len(rows) - 1, int(re.search(r"^peak: (\d+)$", said.stdout, re.M)[1])


def main():
    wrong = 0
    for name, builder in export.builders(export.parser(__doc__).parse_args()):
        folder, target = builder.folder, builder.machine.target
        subprocess.run([sys.executable, "-B", BOARD / "make_network.py", folder], check=True)
        source = (folder / "keywords.mlir").read_text().replace('{plim.device = "ethos-u55"} ', "")
        builder.write("case.mlir", source)
        header = builder.export("case.mlir")
        builder.write("main.c", PROGRAM.replace("%s", " NULL," if "struct case_threads {" in header else ""))
        builder.link("main.c")
        printed = re.fullmatch(r"status 0\nstack (\d+)\n([0-9a-f]*)", builder.start())
        want, given = array(folder / "expected.h"), array(folder / "input.h").reshape(1, 49, 10, 1)
        here = np.asarray(plimsoll.Engine().loads(source).hear(given)).ravel()
        have = np.frombuffer(bytes.fromhex(printed[2]), np.int32) if printed else None
        if have is None or not np.array_equal(have, want) or not np.array_equal(have, here):
            wrong += 1
            print(f"{name}: scores are {have}, NumPy has {want}, the engine {here}")
        ir = subprocess.run([builder.plimsoll, "compile", "case.mlir", "--target", target, "-o", "again.o", "--header", "again.h",
                             "--print-ir-after", "Memory"], capture_output=True, text=True, check=True, cwd=folder).stderr
        planned = int(re.search(r"CASE_WORKSPACE_BYTES (\d+)", header)[1])
        count, best = best_peak(builder.plimsoll, ir, folder)
        wrong += not 0 < planned <= MOST * best
        print(f"{name}: {planned} bytes of workspace for {count} buffers; the best plan has {best}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
