"""A headless Chromium with an empty profile and without a network, controlled by chromedriver (W3C WebDriver)."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import urllib.request

KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Delete": "\ue017", "Shift": "\ue008",
        "Up": "\ue013", "Down": "\ue015", "Home": "\ue011", "End": "\ue010", "Space": " "}


class Browser:
    def __init__(self, width=1400, height=1000):
        self.home = tempfile.mkdtemp()
        self.session = ""
        self.driver = subprocess.Popen(
            ["/usr/bin/chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True, env={**os.environ, "HOME": self.home, "TMPDIR": self.home})
        try:
            port = next(match[1] for line in self.driver.stdout
                        if (match := re.search(r"successfully on port (\d+)", line)))
            self.base = "http://127.0.0.1:" + port
            self.http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                       "--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={self.home}/profile",
                       f"--window-size={width},{height}", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
            self.session = "/session/" + self.call("/session", capabilities={"alwaysMatch": {
                "goog:loggingPrefs": {"browser": "ALL"},
                "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": options}}})["sessionId"]
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("", "DELETE")
        finally:
            self.end()

    def end(self):
        os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.home, True)

    def call(self, path, method="POST", **body):
        request = urllib.request.Request(
            self.base + self.session + path, json.dumps(body).encode() if method == "POST" else None,
            {"Content-Type": "application/json"}, method=method)
        with self.http.open(request, timeout=110) as reply:
            return json.load(reply)["value"]

    def open(self, path):
        self.call("/url", url="file://" + path)
        ready = self.call("/execute/async", args=[], script="""
            const done = arguments[0];
            const page = document.getElementById('page');
            const look = () => page && page.dataset.ready ? done(true) : setTimeout(look, 10);
            setTimeout(() => done(false), 25000);
            look();""")
        assert ready, self.errors()

    def js(self, script):
        return self.call("/execute/sync", script=script, args=[])

    def settle(self):
        """Returns after two further frames and all timers that the page has set by now."""
        self.call("/execute/async", args=[], script="""
            const done = arguments[0];
            setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done())), 300);""")

    def keys(self, *names):
        """Presses the keys one after the other; "Shift+Up" holds Shift."""
        actions = []
        for name in names:
            held, _, key = name.rpartition("+") if len(name) > 1 else ("", "", name)
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": KEYS[held]}] if held else []
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
            actions += [{"type": "keyUp", "value": KEYS[held]}] if held else []
        self.call("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])
        self.settle()

    def focus(self, css):
        self.js(f"document.querySelector({json.dumps(css)}).focus()")

    def text(self, css):
        return self.js(f"return document.querySelector({json.dumps(css)}).innerText")

    def cdp(self, command, **params):
        return self.call("/goog/cdp/execute", cmd=command, params=params)

    def errors(self):
        return [entry["message"] for entry in self.call("/se/log", type="browser") if entry["level"] == "SEVERE"]

    def emulate(self, **features):
        self.cdp("Emulation.setEmulatedMedia", media="",
                 features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])
        self.settle()

    def screenshot(self, path):
        width, height = self.js("return [innerWidth, document.documentElement.scrollHeight]")
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.settle()
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("/screenshot", "GET")))
        self.cdp("Emulation.clearDeviceMetricsOverride")
        self.settle()

    def names(self):
        """Role and accessible name of everything that a screen reader meets."""
        self.cdp("Accessibility.enable")
        return {(node["role"]["value"], node.get("name", {}).get("value", ""))
                for node in self.cdp("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]}
