#!/usr/bin/env python3
"""Opens the pages of `muster serve` in a headless Chromium while a sweep grows, and steers it from there.

usage: browse_serve.py MUSTER FOLDER

Prints what is wrong and exits with 1, or with 77 if the machine has no Chromium.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

RECIPE = """
local muster = require "muster"
return muster.recipe {
  name = "grown", params = { x = muster.int { 1 } },
  plan = function(p, job)
    -- Reports each line of its pipe, until "end".
    job:workers { count = 1, command = { "sh", "-c", 'exec 3<>"$0"; while read -r line <&3; do [ "$line" = end ] && exit 0; '
      .. 'echo "$line" >> "$MUSTER_METRICS"; done', "%s/in." .. p.x } }
  end,
}
"""

QUICK = """
local muster = require "muster"
return muster.recipe { name = "quick", plan = function(p, job) job:workers { count = 1, command = { "true" } } end }
"""


class Browser:
    """A Chromium with an empty profile and no network but 127.0.0.1, driven by chromedriver."""

    def __init__(self):
        self.home = tempfile.mkdtemp()
        self.session = ""
        self.driver = subprocess.Popen(["/usr/bin/chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True,
                                       start_new_session=True, env={**os.environ, "HOME": self.home})
        port = next(m[1] for line in self.driver.stdout if (m := re.search(r"successfully on port (\d+)", line)))
        self.base = f"http://127.0.0.1:{port}"
        self.http = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                     f"--user-data-dir={self.home}/profile", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
        wanted = {"goog:loggingPrefs": {"browser": "ALL"}, "timeouts": {"script": 30000},
                  "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": arguments}}
        answer = self.call("/session", capabilities={"alwaysMatch": wanted})
        self.session = "/session/" + answer["sessionId"]

    def call(self, path, how="POST", **body):
        data = json.dumps(body).encode() if how == "POST" else None
        request = urllib.request.Request(self.base + self.session + path, data, method=how)
        with self.http.open(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, address):
        self.call("/url", url=address)

    def script(self, text, *arguments):
        return self.call("/execute/sync", script=text, args=list(arguments))

    def wait(self, condition, *arguments):
        """Waits until the condition, an expression of JavaScript with `a`, is true in the page."""
        text = ("const done = arguments[arguments.length - 1], a = arguments; const look = () => { let held = false;"
                f"try {{ held = Boolean({condition}); }} catch {{}} if (held) done(true); else setTimeout(look, 10); }}; look();")
        try:
            return self.call("/execute/async", script=text, args=list(arguments))
        except urllib.error.HTTPError:
            raise AssertionError(f"never true: {condition} {arguments}\n{self.script('return document.body.innerText')}") from None

    def on(self, css, action, **body):
        """Acts on an element; on the new one if the page, which is live, replaces it meanwhile."""
        for _ in range(250):
            try:
                element = [*self.call("/element", using="css selector", value=css).values()][0]
                return self.call(f"/element/{element}{action}", **body)
            except urllib.error.HTTPError as error:
                if json.load(error)["value"]["error"] not in ("stale element reference", "no such element"):
                    raise
            time.sleep(0.02)
        raise AssertionError(f"no element stays long enough: {css}")

    def click(self, css):
        self.on(css, "/click")

    def type(self, css, text):
        self.script("document.querySelector(arguments[0]).select()", css)  # what is typed replaces it
        self.on(css, "/value", text=text)

    def problems(self):
        return [entry["message"] for entry in self.call("/se/log", type="browser") if entry["level"] == "SEVERE"]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("/screenshot", "GET")))

    def close(self):
        try:
            self.call("", "DELETE")
        finally:
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()
            shutil.rmtree(self.home, True)


class Pipes:
    """What the trials report, written by the test."""

    def __init__(self, folder, last):
        self.pipes = {}
        for x in range(1, last + 1):
            os.mkfifo(folder / f"in.{x}")
            self.pipes[x] = os.open(folder / f"in.{x}", os.O_RDWR)  # neither end waits for the other

    def write(self, x, line):
        os.write(self.pipes[x], (line + "\n").encode())

    def report(self, x, **values):
        self.write(x, json.dumps(values))


def status_of(address, **headers):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def check(held, what):
    if not held:
        raise AssertionError(what)


def browse(command, folder, browser, told, start_sweep, pipes):
    address = told["address"]
    token = address.split("/")[3]

    # The file leads to the list, in which the sweep appears when it begins.
    browser.open("file://" + told["redirect"])
    browser.wait("document.documentElement.dataset.stream === 'live'")
    check(browser.script("return document.querySelectorAll('tbody tr').length") == 0, "the list is not empty")
    start_sweep()
    browser.wait("document.querySelector('tbody tr .state').textContent === 'running'")
    browser.click("tbody tr a")

    # Its page follows reports.
    live = "document.documentElement.dataset.stream === 'live'"
    state = "document.documentElement.dataset.state"
    cell = "muster.page.model.column(a[1]).values[muster.page.model.rowOf.get(a[0])]"
    curve = "muster.page.model.curvesOf('loss')[muster.page.model.rowOf.get(a[0])]"
    browser.wait(f"{live} && {state} === 'running'")
    browser.wait(f"{cell} === 'running'", "0:0", "state")
    for step, loss in ((1, 0.5), (2, 0.25), (3, 0.125)):
        pipes.report(1, step=step, loss=loss)
        browser.wait(f"{cell} === a[2]", "0:0", "value", loss)
        browser.wait(f"{curve}.x.length === a[1] && {curve}.y[a[1] - 1] === a[2]", "0:0", step, loss)
    browser.wait("document.querySelector('#curves [aria-label*=\"0.125 to 0.5\"]')")

    sweep_page = browser.script("return location.href")

    # Slots, trials, a note, and the end of one trial.
    check(browser.script("return muster.page.model.rowOf.has('0:1')") is False, "a second trial runs in one slot")
    browser.type("#slots", "2")
    browser.click("#slots-form button")
    browser.wait("document.getElementById('said').textContent === '2 trials at a time'")
    browser.wait(f"{cell} === 'running'", "0:1", "state")
    browser.wait("document.getElementById('more').textContent.startsWith('2 slots')")
    # Numbers that cannot be are named as they were typed.
    for text, got in (("0", "0"), ("2.5", "2.5"), ("", "null")):
        browser.script("const input = document.getElementById('slots'); input.value = arguments[0];", text)
        browser.click("#slots-form button")
        browser.wait("document.getElementById('said').textContent === a[0]",
                     f"refused: slots takes a whole number from 1 to 1000000, got {got}")
    check(browser.script("return document.getElementById('resume').disabled"), "a running sweep can be resumed")
    check(not browser.script("return document.getElementById('stop').disabled"), "a running sweep cannot be stopped")
    browser.type("#add", "200")
    browser.click("#add-form button")
    browser.wait("document.getElementById('said').textContent.startsWith('refused: no trial can be added')")
    browser.type("#note", "seen <b>in</b> a browser")
    browser.click("#note-form button")
    browser.wait("document.getElementById('more').textContent.endsWith('note: seen <b>in</b> a browser')")
    # The fields show what holds, also when another command changes it.
    command("note", "grown", "changed elsewhere")
    browser.script("document.activeElement.blur()")
    browser.wait("document.getElementById('note').value === 'changed elsewhere'")
    browser.script("location.reload()")
    browser.wait(f"{live} && document.getElementById('note').value === 'changed elsewhere'")
    browser.wait("document.getElementById('slots').value === '2'")
    check(browser.script("return document.querySelectorAll('#page b').length") == 0, "a note became an element")
    browser.type("#tag", "baseline")
    browser.click("#tag-form button")
    browser.wait("document.getElementById('said').textContent === 'the tag is stored'")
    stored = [path.read_text() for path in folder.rglob("tags.json")]
    check(any('"baseline"' in text for text in stored), f"the sweep has no such tag: {stored}")
    browser.type("#trial", "1")
    browser.click("#stop-trial")
    check(browser.script("return document.getElementById('stop-trial').textContent") == "sure?", "it did not ask")
    browser.click("#stop-trial")
    browser.wait(f"{cell} === 'stopped'", "0:1", "state")
    browser.screenshot(folder / "sweep.png")

    # Tags that other commands change, of a trial that has ended too.
    command("tag", "grown:1", "good", "owner=ann")
    browser.wait(f"{cell} === 'good,owner=ann'", "0:1", "tags")
    found = browser.script("const {state, model} = muster.page; state.setWhere('tag.owner == ann and good');"
                           "return [state.problem, state.rows.map((row) => model.keys[row])]")
    check(found == ["", ["0:1"]], f"the filter finds {found}")
    browser.script("muster.page.state.setWhere('')")
    command("tag", "grown:1", "good-")
    browser.wait(f"{cell} === 'owner=ann'", "0:1", "tags")
    check(browser.script(f"const a = ['0:1', 'tag.good']; return {cell}") is None, "a removed tag is left")

    # A trial is a run with a page of its own.
    browser.type("#trial", "0")
    browser.click("#trial-form button[type=submit]")
    browser.wait(f"{live} && {state} === 'running' && {cell} === 'running'", "0:worker.0", "state")
    pipes.report(1, step=4, loss=0.0625)
    browser.wait(f"{curve}.x.length === 4 && {curve}.y[3] === 0.0625", "0:worker.0")
    command("tag", "grown:0", "seen-live")
    browser.wait("document.getElementById('outcome').innerText.includes('seen-live')")
    samples = "muster.page.model.data.run.usage.lines[0].memory.at.length"
    browser.wait(f"document.querySelector('#usage canvas') && {samples} > 0")
    seen = browser.script(f"return {samples}")
    browser.wait(f"{samples} > a[0]", seen)
    browser.screenshot(folder / "run.png")
    pipes.write(1, "end")
    browser.wait(f"{state} === 'ok'")

    # What has ended cannot be steered; a sweep that was stopped can be resumed.
    why = "document.getElementById('why-not').textContent"
    disabled = "[...document.querySelectorAll(a[0])].every((one) => one.disabled)"
    browser.wait(f"{disabled} && {why} === 'the run has ended'", "#stop, #kill, #dump")
    browser.open(sweep_page)
    browser.wait(f"{live} && {state} === 'running'")
    browser.click("#stop")
    browser.click("#stop")
    browser.wait(f"{state} === 'left' || {state} === 'stopped'")
    browser.wait(f"{disabled} && {why} === 'the sweep is not running; Resume continues it'",
                 "#stop, #kill, #stop-trial, #slots, #slots-form button, #add, #add-form button")
    answer = browser.script("return fetch(`${serve.base}/steer`, {method: 'POST', headers: {'Content-Type': 'application/json'},"
                            "body: '{\"slots\": 3}'}).then((one) => one.json())")
    check(answer["error"] == "the sweep is not running: muster resume continues it", f"steering it: {answer}")
    browser.click("#resume")
    check(browser.script("return document.getElementById('resume').textContent") == "Resume: sure?", "it did not ask")
    browser.click("#resume")
    browser.wait("document.getElementById('said').textContent === 'resumed'")
    browser.wait(f"{state} === 'running' && !document.getElementById('stop').disabled && document.getElementById('why-not').hidden")
    for x in range(2, 5):
        pipes.write(x, "end")
    browser.wait(f"{state} === 'complete' && {disabled}", "#stop, #kill, #resume, #add")
    browser.screenshot(folder / "complete.png")

    # A run that has ended, in the list.
    command("run", "quick.lua", "-q")
    browser.open(address)
    row = "[...document.querySelectorAll('tbody tr')].find((one) => one.innerText.includes('quick'))"
    browser.wait(f"{live} && {row}.querySelector('.state').textContent === 'ok'")
    command("tag", "quick", "kept")
    browser.wait(f"{row}.innerText.includes('kept')")
    # Without the refusals above.
    problems = [problem for problem in browser.problems() if " 409 " not in problem and " 400 " not in problem]
    check(problems == [], f"messages of the pages: {problems}")

    # Without the token, or from elsewhere, there is nothing.
    check(status_of(address) == 200, "the address does not work")
    check(status_of(address.replace(token, "0" * len(token))) == 404, "a wrong token is accepted")
    check(status_of(address, Host="evil.example") == 421, "another host is accepted")
    check(status_of(address, Origin="http://evil.example") == 403, "another origin is accepted")
    browser.open(address.replace(token, "0" * len(token)))
    check(browser.script("return document.body.innerText").strip() == "there is no such page", "a wrong token has a page")
    foreign = folder / "foreign.html"
    foreign.write_text(f"<!doctype html><meta charset=utf-8><iframe src='{address}'></iframe><script>"
                       f"fetch('{address}data').then(() => {{ document.title = 'read'; }}, () => {{ document.title = 'refused'; }})"
                       "</script>")
    browser.open(f"file://{foreign}")
    browser.wait("document.title !== ''")
    check(browser.script("return document.title") == "refused", "a page of another origin reads the data")


def main():
    muster, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if not (os.path.exists("/usr/bin/chromium") and os.path.exists("/usr/bin/chromedriver")):
        print("there is no chromium or chromedriver")
        return 77
    (folder / "recipe.lua").write_text(RECIPE % folder)
    (folder / "quick.lua").write_text(QUICK)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    environment = {"PATH": "/usr/bin:/bin", "MUSTER_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(runtime),
                   "MUSTER_USAGE_SECONDS": "0.3"}
    pipes = Pipes(folder, 4)
    started = []

    def start_sweep():
        words = ["sweep", "recipe.lua", "--grid", "x=1..4", "--slots", "1", "--minimize", "loss", "-q", "--no-progress"]
        started.append(subprocess.Popen([muster, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL))

    def command(*words):
        ended = subprocess.run([muster, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(ended.returncode == 0, f"{words}: {ended.stderr}")

    serve = subprocess.Popen([muster, "serve", "--json"], cwd=folder, env=environment, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    browser = Browser()
    try:
        told = json.loads(serve.stdout.readline())
        browse(command, folder, browser, told, start_sweep, pipes)
        for x in range(2, 5):
            pipes.write(x, "end")
        started[0].wait()
        serve.stdin.close()  # ends it
        check(serve.wait() == 0, "the server did not end well")
        check(not os.path.exists(told["redirect"]), "the file with the address is left")
    except AssertionError as error:
        print(error)
        return 1
    finally:
        browser.close()
        for process in [serve, *started]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
