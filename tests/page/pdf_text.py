"""The text of a PDF that Chromium has written (its Skia backend: PDF 1.4, fonts with ToUnicode, objects by number)."""

import re
import zlib

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
STREAM = re.compile(rb"stream\n(.*)\nendstream", re.DOTALL)
SHOWN = re.compile(rb"/F(\d+) [\d.]+ Tf|<([0-9A-F]+)>(?=[^<>\n]*(?:\] )?T[Jj])|(ET)\b")


def stream_of(body):
    found = STREAM.search(body)
    if not found or b"/Subtype /Image" in body.split(b"stream\n")[0]:
        return b""
    return zlib.decompress(found[1]) if b"/FlateDecode" in body else found[1]


def characters(cmap):
    """What the codes of a ToUnicode CMap mean."""
    text = {}
    for block in re.findall(rb"beginbfchar\n(.*?)endbfchar", cmap, re.DOTALL):
        for code, means in re.findall(rb"<(\w+)> <(\w+)>", block):
            text[int(code, 16)] = bytes.fromhex(means.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange\n(.*?)endbfrange", cmap, re.DOTALL):
        for first, last, means in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>", block):
            for code in range(int(first, 16), int(last, 16) + 1):
                text[code] = chr(int(means, 16) + code - int(first, 16))
    return text


def text_of(pdf):
    """All texts, each on a line of its own as it was drawn; no order of pages is promised."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    fonts = {number: characters(stream_of(objects[int(found[1])])) for number, body in objects.items()
             if (found := re.search(rb"/ToUnicode (\d+) 0 R", body))}
    lines = []
    for body in objects.values():
        line, font = "", {}
        for name, codes, end in SHOWN.findall(stream_of(body)):
            if name:
                font = fonts.get(int(name), {})
            elif codes:
                line += "".join(font.get(int(codes[i:i + 4], 16), "?") for i in range(0, len(codes), 4))
            elif line:
                lines.append(line)
                line = ""
    return "\n".join(lines)
