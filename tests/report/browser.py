"""A headless Chromium, driven over a pipe with its DevTools protocol: no package but the browser is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# Chromium does not start its sandbox as root, and the pages are our own.
OPTIONS = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
           "--disable-extensions", "--disable-background-networking", "--force-device-scale-factor=1"]


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Failure(Exception):
    """What the browser said of a command or a script."""


class Browser:
    """One page of a browser of its own."""

    def __init__(self, program, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="plimsoll-page-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def connect():
            # The protocol's descriptors are 3 and 4, which the others may be themselves.
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen([program, *OPTIONS, f"--user-data-dir={self.profile}", "about:blank"], close_fds=False,
                                        preexec_fn=connect, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.send(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failure("the browser does not answer")
            more = os.read(self.input, 1 << 16)
            if not more:
                raise Failure("the browser has ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, timeout=180, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.output, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']['message']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def open(self, path, timeout=180):
        """Opens a file; everything in it has run when this returns."""
        self.events.clear()
        self.send("Page.navigate", url=f"file://{os.path.abspath(path)}")
        deadline = time.monotonic() + timeout
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            message = self.receive(deadline)
            if "method" in message:
                self.events.append(message)

    def run(self, script, timeout=180):
        """The value of an expression, or of the promise that it is."""
        result = self.send("Runtime.evaluate", timeout, expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def press(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key if len(key) > 1 else "", text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, scheme="light", medium="screen"):
        self.send("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def give_file(self, selector, path):
        """As if the user had chosen it."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[os.path.abspath(path)])

    def screenshot(self, path, whole=False, **options):
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole, **options)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def faults(self):
        """What scripts threw, the console was told as an error or the policy of the page refused, since it was opened."""
        said = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                said.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
                said.append(str(parameters["args"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] == "error":
                said.append(parameters["entry"]["text"])
        return said

    def requests(self):
        """What was asked for, but for the page itself."""
        urls = [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return urls[1:]

    def unnamed(self):
        """Roles of what can be operated and has no accessible name."""
        operable = {"button", "link", "textbox", "searchbox", "application", "combobox", "checkbox"}
        return [node["role"]["value"] for node in self.send("Accessibility.getFullAXTree")["nodes"]
                if not node.get("ignored") and node.get("role", {}).get("value") in operable and not node.get("name", {}).get("value")]
