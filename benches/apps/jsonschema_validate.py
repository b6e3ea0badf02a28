"""Documents are checked against a JSON schema with references, alternatives, formats and
conditions."""

import jsonschema

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "address": {"type": "object", "required": ["street", "city"], "additionalProperties": False,
                    "properties": {"street": {"type": "string", "minLength": 3}, "city": {"type": "string"},
                                   "zip": {"type": "string", "pattern": "^[0-9]{5}$"}}},
        "person": {"type": "object", "required": ["name", "age"], "properties": {
            "name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150}, "address": {"$ref": "#/$defs/address"},
            "friends": {"type": "array", "items": {"$ref": "#/$defs/person"}, "maxItems": 3}}},
        "contact": {"oneOf": [{"type": "string", "pattern": "@"}, {"type": "object", "required": ["phone"]}]},
    },
    "type": "object",
    "properties": {
        "people": {"type": "array", "items": {"$ref": "#/$defs/person"}, "uniqueItems": True},
        "contact": {"$ref": "#/$defs/contact"}, "level": {"enum": ["low", "high", None]}, "ratio": {"type": "number", "multipleOf": 0.25},
    },
    "patternProperties": {"^x-": {"type": ["string", "boolean"]}},
    "if": {"properties": {"level": {"const": "high"}}}, "then": {"required": ["contact"]},
}


def person(n):
    return {"name": f"person {n}", "age": n * 13 % 170, "address": {"street": "Long Street"[: n % 9], "city": "Town", "zip": str(10000 + n)[n % 2:]},
            "friends": [{"name": f"friend {k}", "age": k} for k in range(n % 5)]}


DOCUMENTS = [
    {"people": [person(n) for n in range(start, start + 6)], "level": ("low", "high", "none")[start % 3], "x-note": start or "text",
     "ratio": start * 0.125} | ({"contact": "a@b.example" if start % 4 else {"phone": 1}} if start % 5 else {})
    for start in range(8)]
validator = jsonschema.Draft202012Validator(SCHEMA)


def work():
    return [sorted((list(map(str, error.absolute_path)), error.validator) for error in validator.iter_errors(document)) for document in DOCUMENTS]
