#!/usr/bin/env python3
"""usage: session.py MUSTER RECIPES

Edits gpt.lua of that folder with `muster lsp`, and fails unless diagnostics, hover, completion and definition are right.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from lsp_client import Client  # noqa: E402


def expect(condition, what):
    if not condition:
        sys.exit(f"session.py: {what}")


def main():
    program, recipes = sys.argv[1:]
    path = pathlib.Path(recipes) / "gpt.lua"
    text = path.read_text(encoding="utf-8")
    client = Client(program, recipes)
    expect(client.capabilities["positionEncoding"] == "utf-16", "the encoding is not utf-16")
    uri = client.uri(path)
    client.open(uri, text)

    def found(version):
        return [(each["range"]["start"]["line"] + 1, each["code"]) for each in client.diagnostics_of(uri, version)]

    checked = subprocess.run([program, "check", "--json", str(path)], stdout=subprocess.PIPE, cwd=recipes, check=False)
    of_check = [(each["line"], each["kind"]) for each in json.loads(checked.stdout)["diagnostics"] if each["line"]]
    expect([each for each in found(1) if each[1] != "program"] == of_check, f"muster check reports {of_check}")

    lines = text.split("\n")
    at_mode = next(i for i, line in enumerate(lines) if "context.set_context {" in line)
    column = lines[at_mode].index("mode = ")
    client.insert(uri, 2, at_mode, column, "max_device_memry = 1, ")
    wrong = [each for each in client.diagnostics_of(uri, 2) if each["code"] == "unknown_key"]
    expect(len(wrong) == 1, "the misspelt attribute is not reported")
    start = wrong[0]["range"]["start"]
    expect((start["line"], start["character"]) == (at_mode, column), f"it is reported at {start}")
    actions = client.ask("textDocument/codeAction", {
        "textDocument": {"uri": uri}, "range": wrong[0]["range"], "context": {"diagnostics": wrong}})
    edits = [edit["newText"] for action in actions for edit in action["edit"]["changes"][uri]]
    expect(edits == ["max_device_memory"], f"the edits are {edits}")

    hover = client.at("hover", uri, at_mode, column + len("max_device_memry = 1, m"))
    expect("PYNATIVE_MODE" in hover["contents"]["value"], "hover knows no mode")
    at_p = next(i for i, line in enumerate(lines) if "p.pipeline_stages, p.tensor" in line)
    column = lines[at_p].index("p.pipeline_stages") + len("p.")
    labels = [item["label"] for item in client.at("completion", uri, at_p, column)["items"]]
    expect("learning_rate" in labels, f"completion offers {labels}")
    target = client.at("definition", uri, at_p, column + 1)
    at_declared = next(i for i, line in enumerate(lines) if line.strip().startswith("pipeline_stages "))
    expect(target["uri"] == uri and target["range"]["start"]["line"] == at_declared, f"the definition is {target}")
    hover = client.at("hover", uri, at_p, column + 1)["contents"]["value"]
    expect("stages the layers are cut into" in hover and "default: `4`" in hover, f"hover is {hover}")
    expect(client.close() == 0, "the exit code is not 0")
    print("ok")


if __name__ == "__main__":
    main()
