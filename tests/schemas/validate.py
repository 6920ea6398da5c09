#!/usr/bin/env python3
"""Validates documents against the JSON Schemas of muster.

usage: validate.py SCHEMAS DOCUMENTS

SCHEMAS is a folder of NAME.json, DOCUMENTS a file of JSON lines: {"schema": NAME, "what": where it is from,
"text": the document}. Each document must match its schema, and have no member
that the schema lacks. Then every object of it is spoilt, by dropping a required member or giving one another type,
and must be refused. Prints each problem, and exits with 1 if there was one.
"""
import collections
import json
import pathlib
import sys

from jsonschema import Draft202012Validator


def strict(schema):
    """The schema without members that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(each) for name, each in schema.items()}
    if "required" in schema and "additionalProperties" not in schema:
        made["additionalProperties"] = False
    return made


def variants(schema):
    return schema["anyOf"] if "anyOf" in schema else [schema]


def of_another_type(schema):
    """A value that the schema of a member cannot allow; None if it allows nearly everything."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "const" in schema or "enum" in schema:
        return {"no": "such value"}
    if not kinds:
        return None
    return 17.5 if "object" in kinds or "array" in kinds or "string" in kinds else {"no": "number"}


def spoilt(schema, value):
    """(what was done, the value so spoilt) for one object and those in it."""
    if isinstance(value, list):
        for i, each in enumerate(value[:2]):
            for what, other in spoilt(schema.get("items", {}), each):
                yield what, value[:i] + [other] + value[i + 1:]
    if not isinstance(value, dict) or "required" not in schema:
        return
    for name in schema["required"]:
        yield "without %s" % name, {key: each for key, each in value.items() if key != name}
    for name, of_member in schema["properties"].items():
        if name not in value:
            continue
        other = of_another_type(of_member)
        if other is not None:
            yield "%s of another type" % name, {**value, name: other}
        if "anyOf" not in of_member:
            for what, member in spoilt(of_member, value[name]):
                yield "%s.%s" % (name, what), {**value, name: member}
    yield "with an unknown member", {**value, "no such member": 1}


def main(folder, documents):
    schemas = {path.stem: json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")}
    problems = []
    for name, schema in schemas.items():
        Draft202012Validator.check_schema(schema)
    closed = {name: strict(schema) for name, schema in schemas.items()}
    seen = collections.Counter()
    spoilt_ones = 0
    spoilt_kinds = collections.Counter()
    for line in pathlib.Path(documents).read_text().splitlines():
        given = json.loads(line)
        name, what = given["schema"], given["what"]
        try:
            value = json.loads(given["text"])
        except ValueError as why:
            problems.append("%s: %s: not JSON: %s: %r" % (name, what, why, given["text"][:200]))
            continue
        seen[name] += 1
        is_open, is_closed = Draft202012Validator(schemas[name]), Draft202012Validator(closed[name])
        for validator, kind in ((is_open, "refused"), (is_closed, "refused by the closed schema")):
            candidates = [Draft202012Validator({**validator.schema, "anyOf": [each]}) if "anyOf" in validator.schema
                          else validator for each in variants(validator.schema)]
            if any(each.is_valid(value) for each in candidates):
                continue
            # The variant that is nearest.
            nearest = min((list(each.iter_errors(value)) for each in candidates), key=lambda all_of_them: sum(
                1 + len(e.context or []) for e in all_of_them))
            why = "; ".join("%s: %s" % (list(e.absolute_path), e.message[:300]) for e in deepest(nearest)[:4])
            problems.append("%s: %s: %s: %s" % (name, what, kind, why))
            break
        else:
            # A few of each kind: a journal has thousands of lines.
            kind = name + str(value.get("event", "")) if isinstance(value, dict) else name
            spoilt_kinds[kind] += 1
            if spoilt_kinds[kind] > 2:
                continue
            for variant in variants(closed[name]):
                if not Draft202012Validator({**closed[name], **({"anyOf": [variant]} if "anyOf" in closed[name] else {})
                                             }).is_valid(value):
                    continue
                for how, other in spoilt(variant, value):
                    spoilt_ones += 1
                    if is_closed.is_valid(other):
                        problems.append("%s: %s: accepted %s" % (name, what, how))
                break
    for name in sorted(set(schemas) - set(seen)):
        problems.append("%s: no document was validated" % name)
    for problem in problems:
        print(problem)
    print("%d documents of %d schemas, %d spoilt ones" % (sum(seen.values()), len(seen), spoilt_ones))
    return 1 if problems or not spoilt_ones else 0


def deepest(errors):
    """The errors without those that only say that no variant matched."""
    found = []
    for error in errors:
        found += deepest(error.context) if error.context else [error]
    return sorted(found, key=lambda e: -len(e.absolute_path))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
