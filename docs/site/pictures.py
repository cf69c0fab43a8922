#!/usr/bin/env python3
"""Draws docs/pictures: of the pages that the commands of docs/guides/tutorial.md leave, in a headless Chromium.

    pictures.py BUILD

From the root of the checkout. Times are those of the machine that it runs on: let it do nothing else.
"""

import os
import struct
import sys
import zlib

sys.path += ["tests/docs", "tests/report"]
import browser  # noqa: E402
import guides  # noqa: E402

OUT = "docs/pictures"
WIDTH, MARGIN = 1120, 12
# Rectangles that hold all elements of some selectors.
RECTANGLE = """((selectors) => {
  const all = selectors.flatMap((each) => [...document.querySelectorAll(each)]).map((each) => each.getBoundingClientRect());
  const least = (side) => Math.min(...all.map((each) => each[side])), most = (side) => Math.max(...all.map((each) => each[side]));
  return [least("left") + scrollX, least("top") + scrollY, most("right") - least("left"), most("bottom") - least("top")];
})"""


def packed(data):
    """The same PNG, with its pixels packed as well as they can be."""
    chunks, position = [], 8
    while position < len(data):
        [length] = struct.unpack_from(">I", data, position)
        chunks.append((data[position + 4:position + 8], data[position + 8:position + 8 + length]))
        position += 12 + length
    pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    head, = (content for kind, content in chunks if kind == b"IHDR")
    out = data[:8]
    for kind, content in ((b"IHDR", head), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return out


def draw(page, name, *selectors, height=None):
    """A picture of these elements, at most so high."""
    x, y, width, full = page.run(f"{RECTANGLE}({list(selectors)!r})")
    path = f"{OUT}/{name}.png"
    page.screenshot(path, whole=True, clip={"x": max(0, x - MARGIN), "y": y - MARGIN, "width": width + 2 * MARGIN,
                                "height": min(full, height or full) + 2 * MARGIN, "scale": 1})
    with open(path, "rb") as file:
        data = packed(file.read())
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {len(data) >> 10} KiB")


def main(arguments):
    program = browser.find()
    if len(arguments) != 1 or not program:
        print(__doc__ if program else "there is no Chromium", file=sys.stderr)
        return 2
    folder = os.path.abspath(f"{arguments[0]}/guides")
    environment = dict(guides.install(os.path.abspath(arguments[0]), folder), SOURCE=os.getcwd())
    guides.run_guide("docs/guides/tutorial.md", f"{folder}/tutorial", environment)
    os.makedirs(OUT, exist_ok=True)
    with browser.Browser(program, WIDTH, 760) as page:
        page.open(f"{folder}/tutorial/explain.html#dispatch-3")
        draw(page, "graph", "#dispatches .graph", "#side", height=640)
        draw(page, "memory", "#memory .map")
        page.open(f"{folder}/tutorial/before.html")
        draw(page, "roofline", "#roofline svg")
        draw(page, "timeline", "#timeline canvas")
        page.give_file("#compare input[type=file]", f"{folder}/tutorial/after.html")
        page.run("new Promise((done) => setTimeout(done, 1000))")
        draw(page, "compare", "#compare")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
