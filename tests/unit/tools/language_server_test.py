#!/usr/bin/env python3
"""The language server outlives texts that end the parser: usage: language_server_test.py SERVER CRASHERS"""
import json
import subprocess
import sys
import threading
import unittest
from pathlib import Path

server, crashers = sys.argv[1], Path(sys.argv[2])
good = "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  return %x : tensor<2x3xf32>\n}\n"
transpose = """func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %r = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%y : tensor<3x2xf32>) permutation = [1, 0]
  return %r : tensor<3x2xf32>
}
"""


class Editor:
    """Waits at most a minute for each answer."""

    def __init__(self):
        self.process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.watch = threading.Timer(60, self.process.kill)
        self.watch.start()
        self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.say("initialized")

    def say(self, method, id=None, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
        text = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()

    def hear(self, wanted):
        """The next message that is wanted; others are passed over."""
        while True:
            length = 0
            while (line := self.process.stdout.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert line, "the server has ended"
            message = json.loads(self.process.stdout.read(length))
            if wanted(message):
                return message

    def request(self, method, id=1, **params):
        self.say(method, id, **params)
        return self.hear(lambda message: message.get("id") == id)

    def open(self, uri, text):
        self.say("textDocument/didOpen",
                 textDocument={"uri": uri, "languageId": "mlir", "version": 1, "text": text})

    def change(self, uri, version, text):
        self.say("textDocument/didChange", textDocument={"uri": uri, "version": version},
                 contentChanges=[{"text": text}])

    def diagnostics(self, uri):
        return self.hear(lambda message: message.get("method") == "textDocument/publishDiagnostics"
                         and message["params"]["uri"] == uri)["params"]["diagnostics"]

    def definition(self, uri):
        return self.request("textDocument/definition", id=7, textDocument={"uri": uri},
                            position={"line": 1, "character": 10})

    def end(self):
        self.request("shutdown", id=8)
        self.say("exit")
        self.process.stdout.close()
        self.process.stdin.close()
        status = self.process.wait()
        self.watch.cancel()
        return status


class Survival(unittest.TestCase):
    def setUp(self):
        self.editor = Editor()
        self.editor.open("test:///good.mlir", good)
        self.assertEqual(self.editor.diagnostics("test:///good.mlir"), [])

    def tearDown(self):
        self.assertEqual(self.editor.end(), 0)

    def checkGood(self):
        self.assertEqual(self.editor.definition("test:///good.mlir")["result"][0]["range"]["start"],
                         {"line": 0, "character": 13})

    def test_everything_of_the_corpus(self):
        ended = 0
        for index, path in enumerate(sorted(crashers.iterdir())):
            uri = f"test:///{index}.mlir"
            self.editor.open(uri, path.read_text())
            found = self.editor.diagnostics(uri)
            ended += any("the parser of MLIR ended" in each["message"] for each in found)
            self.checkGood()
        print(f"{index + 1} texts, {ended} ended a server")
        self.assertGreater(ended, 3)

    def test_a_letter_that_is_typed(self):
        uri = "test:///typed.mlir"
        self.editor.open(uri, transpose)
        self.assertEqual(self.editor.diagnostics(uri), [])
        for version in (2, 4, 6):
            self.editor.change(uri, version, transpose.replace("0]", "O]"))
            found = self.editor.diagnostics(uri)
            self.assertIn("the parser of MLIR ended by signal", found[0]["message"])
            self.checkGood()
            # A server that does not know the text is not asked of it.
            self.assertIn("error", self.editor.definition(uri))
            self.editor.change(uri, version + 1, transpose)
            self.assertEqual(self.editor.diagnostics(uri), [])
            self.assertIn("result", self.editor.definition(uri))

    def test_requests_behind_it_are_answered(self):
        bad = transpose.replace("0]", "O]")
        self.editor.open("test:///bad.mlir", bad)
        for id in range(20, 40):
            self.editor.say("textDocument/definition", id, textDocument={"uri": "test:///good.mlir"},
                            position={"line": 1, "character": 10})
        for id in range(20, 40):
            answer = self.editor.hear(lambda message: message.get("id") == id)
            self.assertTrue("result" in answer or "error" in answer)
        self.checkGood()

    def test_two_texts_at_once(self):
        bad = transpose.replace("0]", "O]")
        for name in "ab":
            self.editor.open(f"test:///{name}.mlir", bad)
        said = {}
        while len(said) < 2:
            message = self.editor.hear(lambda message: "ended" in json.dumps(message.get("params", "")))
            said[message["params"]["uri"]] = message
        self.checkGood()
        for name in "ab":  # what was said of them goes away
            self.editor.say("textDocument/didClose", textDocument={"uri": f"test:///{name}.mlir"})
            self.assertEqual(self.editor.diagnostics(f"test:///{name}.mlir"), [])
        self.checkGood()
        # Mended elsewhere, it is read, also when another text ends the server.
        self.editor.open("test:///a.mlir", transpose)
        self.assertEqual(self.editor.diagnostics("test:///a.mlir"), [])
        self.editor.open("test:///b.mlir", bad)
        self.assertIn("ended", self.editor.diagnostics("test:///b.mlir")[0]["message"])
        self.assertIn("result", self.editor.definition("test:///a.mlir"))


class End(unittest.TestCase):
    def test_of_the_input(self):
        editor = Editor()
        editor.process.stdin.close()
        editor.process.stdout.read()
        editor.process.wait()
        editor.watch.cancel()
        editor.process.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
