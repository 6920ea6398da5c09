#!/usr/bin/env python3
"""Reads event files of TensorBoard and prints their events as JSON, one a line.

Written from the formats (records of TFRecord, event.proto, summary.proto, plugin_data.proto of HParams)
and independent of muster's code: fields of other numbers or wire types, checksums that differ and bytes
left over are errors.
"""

import json
import math
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length = struct.unpack("<Q", data[:8])[0]
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8]), "checksum of the length"
        body, rest = data[12:12 + length], data[12 + length:]
        assert len(body) == length and struct.unpack("<I", rest[:4])[0] == masked(body), "checksum of the data"
        yield body
        data = rest[4:]


def varint(data):
    number = shift = 0
    for at, byte in enumerate(data):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, data[at + 1:]
    raise ValueError("a number is cut")


def fields(data):
    """(field, wire type, value) of a message."""
    while data:
        key, data = varint(data)
        kind = key & 7
        if kind == 0:
            value, data = varint(data)
        elif kind == 2:
            length, data = varint(data)
            value, data = data[:length], data[length:]
            assert len(value) == length, "bytes are cut"
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[kind]
            value, data = struct.unpack(form, data[:size])[0], data[size:]
        yield key >> 3, kind, value


def message(data, known):
    """A dictionary by `known`: field → (name, wire type, reader)."""
    found = {}
    for field, kind, value in fields(data):
        name, expected, read = known[field]
        assert kind == expected, (name, kind)
        value = read(value)
        found.setdefault(name, []).append(value)
    return found


def one(found):
    return {name: values[0] for name, values in found.items() if len(values) == 1 or sys.exit("repeated " + name)}


def text(value):
    return value.decode("utf-8")


def finite(value):
    return value if math.isfinite(value) else None


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def parameter(data):
    kind, value = next(iter(one(message(data, {
        1: ("null", 0, int), 2: ("number", 1, float), 3: ("string", 2, text), 4: ("bool", 0, bool)})).items()))
    return None if kind == "null" else value


def entry(data):
    return one(message(data, {1: ("key", 2, text), 2: ("value", 2, parameter)}))


def session_start(data):
    found = message(data, {1: ("hparams", 2, entry), 5: ("start_time_secs", 1, float)})
    return {"hparams": {each["key"]: each["value"] for each in found.get("hparams", [])},
            "start_time_secs": found["start_time_secs"][0]}


def session_end(data):
    return one(message(data, {1: ("status", 0, int), 2: ("end_time_secs", 1, float)}))


def hparams(data):
    return one(message(data, {3: ("session_start_info", 2, session_start), 4: ("session_end_info", 2, session_end)}))


def plugin(data):
    return one(message(data, {1: ("plugin_name", 2, text), 2: ("content", 2, hparams)}))


def metadata(data):
    return one(message(data, {1: ("plugin_data", 2, plugin)}))


def dimension(data):
    return one(message(data, {1: ("size", 0, int)}))


def shape(data):
    return message(data, {2: ("dim", 2, dimension)})


def tensor(data):
    return one(message(data, {1: ("dtype", 0, int), 2: ("shape", 2, shape),
                              5: ("float_val", 2, lambda packed: list(struct.unpack("<%df" % (len(packed) // 4), packed)))}))


def value(data):
    return one(message(data, {1: ("tag", 2, text), 2: ("simple_value", 5, finite), 8: ("tensor", 2, tensor),
                              9: ("metadata", 2, metadata)}))


def summary(data):
    return message(data, {1: ("value", 2, value)})


def event(data):
    return one(message(data, {1: ("wall_time", 1, float), 2: ("step", 0, signed), 3: ("file_version", 2, text),
                              5: ("summary", 2, summary)}))


def main():
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            for number, record in enumerate(records(file.read())):
                found = event(record)
                assert (number == 0) == ("file_version" in found), "the first record has the version, and only it"
                print(json.dumps(found))


if __name__ == "__main__":
    main()
