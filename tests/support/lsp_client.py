"""A client of `muster lsp` over its standard input and output, for tests and benchmarks."""

import json
import os
import pathlib
import select
import subprocess


class Client:
    """Starts the server and initializes it. Waits for answers for at most `patience` seconds each."""

    def __init__(self, program, root, patience=60, capabilities=None):
        self.patience = patience
        self.server = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.buffer = b""
        self.last_id = 0
        self.diagnostics = {}  # uri -> (version, list)
        self.capabilities = self.ask("initialize", {
            "processId": os.getpid(), "rootUri": self.uri(root), "capabilities": capabilities or {}})["capabilities"]
        self.tell("initialized", {})

    @staticmethod
    def uri(path):
        return pathlib.Path(path).absolute().as_uri()

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def tell(self, method, params):
        self.write({"method": method, "params": params})

    def read(self):
        """The next message; diagnostics are stored, too."""
        while True:
            header, end, rest = self.buffer.partition(b"\r\n\r\n")
            if end:
                length = int(header.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    message = json.loads(rest[:length])
                    if message.get("method") == "textDocument/publishDiagnostics":
                        params = message["params"]
                        self.diagnostics[params["uri"]] = (params.get("version"), params["diagnostics"])
                    return message
            ready, _, _ = select.select([self.server.stdout], [], [], self.patience)
            if not ready:
                raise TimeoutError("muster lsp does not answer")
            got = os.read(self.server.stdout.fileno(), 1 << 16)
            if not got:
                raise EOFError("muster lsp has ended")
            self.buffer += got

    def ask(self, method, params):
        self.last_id += 1
        self.write({"id": self.last_id, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    def open(self, uri, text):
        self.tell("textDocument/didOpen",
                  {"textDocument": {"uri": uri, "languageId": "lua", "version": 1, "text": text}})

    def insert(self, uri, version, line, character, text):
        at = {"line": line, "character": character}
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": [{"range": {"start": at, "end": at}, "text": text}]})

    def diagnostics_of(self, uri, version):
        """Waits for those of that version of the document."""
        while self.diagnostics.get(uri, (None,))[0] != version:
            self.read()
        return self.diagnostics[uri][1]

    def at(self, method, uri, line, character):
        return self.ask("textDocument/" + method,
                        {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})

    def close(self):
        """Ends the server; returns its exit code."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.server.stdin.close()
        return self.server.wait(self.patience)
