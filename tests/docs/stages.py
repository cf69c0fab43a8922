#!/usr/bin/env python3
"""Is the program in docs/design/pipeline.md shown as it stands behind each stage?

    stages.py PLIMSOLL SOURCE_DIR [--update]

The first block of the section is the source. A comment in front of each other one names its stage and the functions that it shows:
"<!-- behind Access: scores -->". --update writes the blocks.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECTION = "## One program behind each stage"
BLOCK = re.compile(r"<!-- behind (\w+): ([^>]+) -->\n```mlir\n(.*?)```\n", re.DOTALL)
TARGET = "x86-64-v3"


def modules(plimsoll, source, stages):
    """The text behind each stage."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-stages-") as folder:
        file = Path(folder) / "scores.mlir"
        file.write_text(source)
        command = [plimsoll, "compile", file, "--target", TARGET, "-o", Path(folder) / "scores.plimart"]
        for stage in stages:
            command += ["--print-ir-after", stage]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    parts = re.split(r"// -----// IR after (\w+) //----- //\n", text)
    return dict(zip(parts[1::2], parts[2::2]))


def shown(module, names):
    """The functions, and the affine maps that they name."""
    texts = []
    for name in names:
        found = re.search(rf"^  (?:func|llvm)\.func [^\n]*@{re.escape(name)}\(.*?^  }}.*?\n", module, re.DOTALL | re.MULTILINE)
        if not found:
            raise ValueError(f"there is no function {name}")
        texts.append(re.sub("^  ", "", found[0], flags=re.MULTILINE))
    text = "".join(texts)
    used = set(re.findall(r"#\w+\d*\b", text))
    aliases = [line + "\n" for line in module.splitlines() if re.match(r"#\w+ = ", line) and line.split()[0] in used]
    return "".join(aliases) + text


def main():
    plimsoll, page = sys.argv[1], Path(sys.argv[2]) / "docs/design/pipeline.md"
    text = page.read_text()
    begin = text.index(SECTION)
    section = text[begin:]
    source = re.search(r"```mlir\n(.*?)```\n", section, re.DOTALL)[1]
    behind = modules(plimsoll, source, [stage for stage, _, _ in BLOCK.findall(section)])

    def block(match):
        stage, names = match[1], match[2]
        return f"<!-- behind {stage}: {names} -->\n```mlir\n{shown(behind[stage], names.split())}```\n"

    new = BLOCK.sub(block, section)
    if new == section:
        return 0
    if "--update" in sys.argv:
        page.write_text(text[:begin] + new)
        return 0
    for old, made in zip(BLOCK.finditer(section), BLOCK.finditer(new)):
        if old[0] != made[0]:
            print(f"docs/design/pipeline.md: behind stage {old[1]} it is\n{made[3]}")
    print("write it with tests/docs/stages.py PLIMSOLL SOURCE_DIR --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
