#!/usr/bin/env python3
"""The page of a report in a headless Chromium. Skipped, with a word, where there is none.

    page_test.py PLIMSOLL SOURCE_DIR [--keep FOLDER]    keeps pages and pictures of them there, to be looked at
"""

import json
import pathlib
import re
import sys
import tempfile
import time
import unittest

import browser
import modules

PROGRAM = sys.argv[1]
KEPT = sys.argv[4] if sys.argv[3:4] == ["--keep"] else None
# What a module may have in its names and its text, each of which would run if it were taken for markup.
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S)[1])


def with_data(page, report):
    text = json.dumps(report).replace("<", "\\u003c")
    return re.sub(r'(<script type="application/json" id="report">).*?(</script>)', lambda found: found[1] + text + found[2], page, flags=re.S)


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(KEPT or cls.temporary.name)
        cls.folder.mkdir(exist_ok=True)
        run = modules.Commands(PROGRAM, cls.folder)
        cls.commands = run
        run.write("layers.mlir", modules.layers(6))
        run.write("few.mlir", modules.layers(2))
        run.run("explain", "layers.mlir", "--policies", "--html", "explain.html")
        run.run("profile", "layers.mlir", "--repeat", "5", "--html", "profile.html")
        cls.browser = browser.Browser(browser.find())

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.temporary.cleanup()

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.media()

    def open(self, name):
        self.browser.open(self.folder / name)
        self.assertEqual(self.browser.faults(), [])

    def value(self, script):
        return self.browser.run(script)

    def count(self, selector):
        return self.value(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector):
        return self.value(f"((each) => each.innerText ?? each.textContent)(document.querySelector({json.dumps(selector)}))")

    def wait(self, script):
        """Until it is true."""
        deadline = time.monotonic() + 120
        while not self.value(script):
            self.assertLess(time.monotonic(), deadline, script)
            time.sleep(0.02)

    def picture(self, name, whole=True):
        if KEPT:
            time.sleep(0.3)
            self.browser.screenshot(self.folder / f"{name}.png", whole)

    def test_the_page_is_the_report(self):
        self.open("explain.html")
        report = json.loads(self.commands.run("explain", "layers.mlir", "--policies", "--json"))
        self.assertEqual(data_of((self.folder / "explain.html").read_text()), report)
        printed = self.commands.run("explain", "layers.mlir", "--policies")
        for row in report["summary"]:
            for line in row["lines"]:
                self.assertIn(line, printed)
                self.assertIn(line, self.text("#summary"))
        dispatches = report["functions"][0]["dispatches"]
        self.assertEqual(self.count(".dispatches tbody tr"), len(dispatches))
        self.assertEqual(self.count(".map .box"), sum(len(memory["buffers"]) for memory in report["memories"]))
        self.assertEqual(self.count("#policies tbody tr"), 5)
        self.assertEqual(self.count("#buffers tbody tr"), len(report["allocations"]))
        self.assertEqual(self.count(".source .line"), len(report["source"]["lines"]))
        self.assertEqual(self.count("#roofline"), 0)

    def test_nothing_is_asked_of_the_network(self):
        for name in ("explain.html", "profile.html"):
            self.open(name)
            self.assertEqual(self.browser.requests(), [])
            page = (self.folder / name).read_text()
            self.assertNotRegex(page.split('id="report"')[0], r"(src|href)=\"(?!#)")
            refused = self.value("fetch('https://localhost:1/').then(() => 'went', (error) => String(error))")
            self.assertIn("TypeError", refused)
            self.value("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 1'}))")
            self.assertIsNone(self.value("window.hacked"))
            self.assertTrue(any("Content Security Policy" in fault for fault in self.browser.faults()), self.browser.faults())

    def test_modules_are_text(self):
        name = "<img src=x onerror=window.hacked=1>.mlir"
        self.commands.write(name, modules.layers(2, name="</script><b>f", comment=HOSTILE))
        self.commands.run("profile", name, "--repeat", "1", "--html", "hostile.html")
        self.open("hostile.html")
        self.assertEqual(self.text("h1"), name)
        self.assertIn(HOSTILE, self.text(".source"))
        self.assertIn("@</script><b>f", self.text("#dispatches"))
        for link in range(self.count(".dispatches tbody a")):
            self.value(f"document.querySelectorAll('.dispatches tbody a')[{link}].click()")
        self.assertIsNone(self.value("window.hacked"))
        self.assertEqual(self.count("img, b"), 0)
        self.assertEqual(self.count("script"), 3)

    def test_places_are_linked_both_ways(self):
        self.open("explain.html")
        self.value("document.querySelector('.dispatches tbody a').click()")
        self.assertEqual(self.value("location.hash"), "#dispatch-0")
        line = self.text(".line.selected")
        self.assertIn("math.tanh %m0", line)
        self.assertEqual(self.count(".node.selected"), 1)
        self.assertIn("Dispatch #0", self.text("#detail h3"))
        self.assertIn("argument #0", self.text("#detail"))
        self.value("document.querySelector('#detail .link-buffer').click()")
        self.assertRegex(self.text("#detail h3"), r"Buffer \d+")
        self.assertEqual(self.count("#buffers tr.selected"), 1)
        self.assertGreaterEqual(self.count(".box.selected"), 1)
        self.assertGreaterEqual(self.count(".dispatches tr.selected"), 1)
        self.value("document.querySelectorAll('button.line-text')[2].click()")
        self.assertEqual(self.count(".line.selected"), 1)
        self.assertRegex(self.text("#detail h3"), r"Dispatch|Buffer")
        # An address leads there again.
        self.value("location.hash = '#dispatch-1'")
        self.wait("document.querySelector('#detail h3').innerText.startsWith('Dispatch #1')")

    def test_layers_are_one_group(self):
        self.open("explain.html")
        nodes = self.count(".graph .node.dispatch")
        report = data_of((self.folder / "explain.html").read_text())
        self.assertLess(nodes, len(report["functions"][0]["dispatches"]))
        self.assertIn("times", self.text(".graph .node.group"))
        self.assertGreaterEqual(self.count(".graph .edge"), nodes - 2)
        self.value("document.querySelector('.graph .node.group').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertLess(self.count(".graph .node.dispatch"), nodes)
        # A dispatch of a closed layer opens it.
        self.value("selection.set('dispatch', 2)")
        self.assertEqual(self.count(".graph .node.dispatch"), nodes)

    def test_keys_are_enough(self):
        self.open("profile.html")
        self.value("document.querySelector('.graph .node[tabindex=\"0\"]').focus()")
        self.browser.press("End")
        self.browser.press("ArrowUp")
        self.browser.press("Enter")
        self.assertRegex(self.value("location.hash"), r"#dispatch-\d+")
        self.assertEqual(self.value("document.activeElement.classList.contains('node')"), True)
        self.value("document.querySelector('.map').focus()")
        before = self.text(".map .axis")
        self.browser.press("+")
        self.browser.press("ArrowRight")
        self.assertNotEqual(self.text(".map .axis"), before)
        self.browser.press("0")
        self.assertEqual(self.text(".map .axis"), before)
        self.value("document.querySelector('canvas').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp", "+", "-"):
            self.browser.press(key)
        self.assertRegex(self.text("#timeline-span-0"), r"^\w+ [^:]+: [\d.]+ .?s from ")
        self.value("document.querySelector('#filter').focus()")
        for key in "contraction_1":
            self.browser.press(key)
        shown = self.count(".dispatches tbody tr")
        self.assertTrue(0 < shown <= 6, shown)
        self.assertIn(str(shown), self.text("#dispatches [role=status]"))

    def test_columns_sort(self):
        self.open("profile.html")
        self.assertEqual(self.text(".dispatches th[aria-sort=descending]").split()[0], "time")
        times = "[...document.querySelectorAll('.dispatches tbody tr')].map((row) => model.dispatches[row.id.match(/\\d+/)[0]].seconds)"
        self.assertEqual(self.value(times), sorted(self.value(times), reverse=True))
        self.value("document.querySelector('.dispatches thead .sort').click()")
        self.assertEqual(self.text(".dispatches tbody th").split()[0], "#0")

    def test_everything_has_a_name(self):
        for name in ("explain.html", "profile.html"):
            self.open(name)
            self.value("selection.set('dispatch', 0)")
            self.assertEqual(self.browser.unnamed(), [])
            self.assertEqual(self.repeated_ids(), [])
            # Headings without a gap, one of the first level.
            self.assertEqual(self.count("h1"), 1)
            levels = self.value("[...document.querySelectorAll('h1,h2,h3,h4')].map((each) => Number(each.tagName[1]))")
            self.assertEqual(levels[0], 1)

    def test_profile_has_a_roofline_and_a_timeline(self):
        self.open("profile.html")
        report = data_of((self.folder / "profile.html").read_text())
        known = [dispatch for dispatch in report["functions"][0]["dispatches"] if dispatch.get("operations", 0) > 0 and "measured" in dispatch]
        self.assertEqual(self.count(".roofline .point"), len(known))
        self.assertRegex(self.text("#roofline p"), r"threads?\b.*memory [\d.]+ GB/s.*products [\d.]+ Gop/s")
        self.assertIn("the median of 5", self.text("#summary"))
        kinds = self.value("document.querySelector('#timeline details').open = true, document.querySelector('#timeline details').textContent")
        for kind in ("call", "range", "load", "compile"):
            self.assertIn(kind, kinds)
        drawn = self.value("(() => { const canvas = document.querySelector('canvas'); const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;"
                           " return new Set(new Uint32Array(data.buffer)).size; })()")
        self.assertGreater(drawn, 3)
        buttons = self.value("[...document.querySelectorAll('#timeline .controls button')].map((each) => each.innerText)")
        self.assertEqual(buttons[-2:], ["fastest call", "last call"])

    def test_dispatches_have_colours_of_their_own(self):
        self.open("profile.html")
        self.wait("""(() => {
          const canvas = document.querySelector('canvas.timeline');
          const pixelsOf = (each) => each.getContext('2d').getImageData(0, 0, each.width, each.height).data;
          const drawn = new Set(new Uint32Array(pixelsOf(canvas).buffer));
          return [0, 1].every((i) => {
            const colour = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
            const context = colour.getContext('2d');
            context.fillStyle = `hsl(${(130 + i * 137.5) % 360} ${getComputedStyle(canvas).getPropertyValue('--span-tone')})`;
            context.fillRect(0, 0, 1, 1);
            return drawn.has(new Uint32Array(pixelsOf(colour).buffer)[0]);
          });
        })()""")

    def repeated_ids(self):
        return self.value("[...document.querySelectorAll('[id]')].map((each) => each.id).filter((id, i, all) => all.indexOf(id) !== i)")

    def test_a_trace_is_shown(self):
        self.commands.run("run", "layers.mlir", "-i", "64x64xf32=rnd:1", "-i", "64x96xf32=rnd:2", "-i", "96x64xf32=rnd:3", "--print", "none", "--trace", "trace.json")
        self.open("explain.html")
        self.assertEqual(self.count("canvas"), 0)
        self.browser.give_file("#trace", self.folder / "trace.json")
        self.wait("document.querySelectorAll('canvas').length === 1")
        self.assertEqual(self.browser.faults(), [])
        self.assertIn("trace.json", self.text("#timeline .controls"))
        self.browser.give_file("#trace", self.folder / "layers.mlir")
        self.wait("document.querySelector('#timeline .hint').innerText.includes('cannot be shown')")
        self.assertEqual(self.count("canvas"), 0)
        self.open("profile.html")
        self.browser.give_file("#trace", self.folder / "trace.json")
        self.wait("document.querySelectorAll('canvas').length === 2")
        self.assertEqual(self.repeated_ids(), [])

    def test_another_report_is_compared(self):
        self.commands.run("profile", "few.mlir", "--repeat", "2", "--html", "few.html")
        self.commands.write("few.json", self.commands.run("explain", "few.mlir", "--json"))
        for mine, other, words in (("profile.html", "few.html", "Time of dispatches in a call"), ("explain.html", "few.json", "Bytes of dispatches"),
                                   ("profile.html", "few.json", "Bytes of dispatches")):
            self.open(mine)
            self.browser.give_file("#other", self.folder / other)
            self.wait("document.querySelectorAll('#compare table').length >= 2")
            self.assertIn("few.mlir", self.text("#compare"))
            self.assertIn(words, self.text("#compare"))
            self.assertRegex(self.text("#compare"), r"dispatches\s+\d+\s+\d+\s+−\d+")
            self.assertEqual(self.browser.faults(), [])
        self.picture("compared")
        self.browser.give_file("#other", self.folder / "few.mlir")
        self.wait("document.querySelector('#compare .hint').innerText.includes('cannot be shown')")

    def test_a_thousand_dispatches(self):
        page = (self.folder / "profile.html").read_text()
        report = data_of(page)
        [function] = report["functions"]
        some = function["dispatches"]
        function["dispatches"] = [dict(some[i % len(some)], name=f"{some[i % len(some)]['name']}_{i}") for i in range(1000)]
        function["repetitions"] = [{"begin": i, "length": 1, "count": 1} for i in range(1000)]
        self.commands.write("thousand.html", with_data(page, report))
        self.open("thousand.html")
        self.assertEqual(self.count(".dispatches tbody tr"), 1000)
        self.assertLess(self.count(".graph .node"), 120)
        self.value("selection.set('dispatch', 777)")
        self.assertIn("777", self.text(".graph .node.selected text"))
        self.picture("thousand", whole=False)
        function["repetitions"] = [{"begin": i, "length": 1, "count": 4} for i in range(0, 1000, 4)]
        self.commands.write("thousand.html", with_data(page, report))
        self.open("thousand.html")
        self.assertLess(self.count(".graph .node"), 120)

    def test_it_fits_and_is_read_in_every_light(self):
        self.open("profile.html")
        self.value("selection.set('dispatch', 1)")
        self.picture("light")
        self.assertEqual(self.value("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.browser.media("dark")
        self.picture("dark")
        self.assertEqual(self.contrasts(), [])
        self.browser.media("light")
        self.assertEqual(self.contrasts(), [])
        for width in (360, 800, 1920):
            self.browser.resize(width, 900)
            self.assertLessEqual(self.value("document.documentElement.scrollWidth"), width)
            self.picture(f"wide-{width}")
        self.browser.resize(1280, 900)
        self.browser.media(medium="print")
        self.assertEqual(self.value("getComputedStyle(document.querySelector('nav')).display"), "none")
        self.assertEqual(self.value("[...document.querySelectorAll('.tall, .source, .graph-scroll')].filter((each) => each.scrollHeight > each.clientHeight + 1).length"), 0)
        self.picture("print")
        self.assertGreater(len(self.browser.send("Page.printToPDF")["data"]), 10000)

    def contrasts(self):
        """Texts that are hard to read: with less than 4.5 between their colour and the one behind them."""
        return self.value("""(() => {
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          const light = (text) => parse(text).slice(0, 3).map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
          const behind = (node) => { for (; node; node = node.parentElement) { const color = getComputedStyle(node).backgroundColor;
            if (color.startsWith('rgb(')) return color; } return getComputedStyle(document.body).backgroundColor; };
          const bad = new Set();
          for (const node of document.querySelectorAll('h1, h2, p, dt, dd, th, td, a, caption, button, .hint, .line-number, .line-text')) {
            const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
            if ((a + 0.05) / (b + 0.05) < 4.5) bad.add(`${node.tagName} ${node.className}`);
          }
          return [...bad];
        })()""")


if __name__ == "__main__":
    if not browser.find():
        print("skipped: there is no chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
