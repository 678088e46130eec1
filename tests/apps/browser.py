# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a screen and without a network, by the WebDriver protocol (W3C, 2018)."""
import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element in the protocol


def is_there():
    return shutil.which("chromedriver") is not None and shutil.which("chromium") is not None


class Browser:
    """One window. Commands raise what the browser says is wrong."""

    def __init__(self, width=1440, height=900, downloads=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._base = f"http://127.0.0.1:{port}"
        self._driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._await_driver()
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
                            "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                            "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},{height}"]}
        if downloads is not None:
            options["prefs"] = {"download.default_directory": str(downloads), "download.prompt_for_download": False}
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self._session = f"/session/{made['sessionId']}"
        # A narrow window: Chromium's own has a least width.
        self._post("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}})

    def close(self):
        try:
            self._call("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait()

    def _await_driver(self):
        for _ in range(200):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.05)
        self._driver.kill()
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        request = urllib.request.Request(self._base + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def _post(self, path, body):
        return self._call("POST", self._session + path, body)

    def open(self, path):
        self._post("/url", {"url": path.resolve().as_uri()})

    def run(self, script, *arguments):
        """What a script, the body of a function, returns."""
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def evaluate(self, script):
        """As typed into the console: also what the page's policy would not run."""
        self._post("/goog/cdp/execute", {"cmd": "Runtime.evaluate", "params": {"expression": script}})

    def await_(self, script, seconds=30):
        """Waits until the script returns what is true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script}")

    def show(self, selector):
        """Scrolls an element into the middle of the window."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector)

    def click(self, selector, tries=10):
        """Also what moves away once or twice, as figures above it are drawn."""
        self.show(selector)
        try:
            self._post(f"/element/{self._find(selector)}/click", {})
        except RuntimeError as error:
            if tries == 1 or "click intercepted" not in str(error):
                raise
            time.sleep(0.2)
            self.click(selector, tries - 1)

    def press(self, selector, keys):
        self._post(f"/element/{self._find(selector)}/value", {"text": keys})

    def point_at(self, selector, x=0, y=0):
        """Moves the mouse to the middle of an element, and from there by so many pixels."""
        self.show(selector)
        origin = {ELEMENT: self._find(selector)}
        self._post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 100, "origin": origin, "x": x - 3, "y": y},
            {"type": "pointerMove", "duration": 100, "origin": origin, "x": x, "y": y}]}]})

    def _find(self, selector):
        return self._post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def complaints(self):
        """Errors on the console since the last call."""
        return [entry["message"] for entry in self._post("/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._call("GET", self._session + "/screenshot")))
