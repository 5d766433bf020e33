"""HTTP interface of the live service, from its OpenAPI document."""

from typing import Any

from occupair.live.http.app import openapi_document
from tools.reference.markdown import code, escape, prose, table

INTRODUCTION = """# HTTP interface

{description}

The {{download}}`OpenAPI document <openapi.json>` describes the same interface;
the service provides it at `/api/openapi.json`.

## Authentication

Without tokens in the [settings](settings.md), the service listens on a loopback address only and every
local user has the role admin. With tokens, a request needs the header `Authorization: Bearer TOKEN`; the
page uses the cookie `occupair`. Each role includes those before it: read, write, admin.

## Errors

{errors}
"""


def document() -> dict[str, Any]:
    return openapi_document()


def page() -> str:
    openapi = document()
    operations = [
        (path, method, one) for path, of_path in openapi["paths"].items() for method, one in of_path.items()
    ]
    errors = {
        status: answer["description"]
        for _, _, one in operations
        for status, answer in one["responses"].items()
        if int(status) >= 400
    }
    text = INTRODUCTION.format(
        description=prose_paragraphs(openapi["info"]["description"].rstrip()),
        errors=table(["Status", "Meaning"], ([status, prose(errors[status])] for status in sorted(errors))),
    )
    for tag in dict.fromkeys(one["tags"][0] for _, _, one in operations):
        text += f"\n## {tag.capitalize()}\n"
        text += "".join(_operation(*entry) for entry in operations if entry[2]["tags"][0] == tag)
    text += "\n## Schemas\n"
    return text + "".join(
        _schema(name, one) for name, one in sorted(openapi["components"]["schemas"].items())
    )


def prose_paragraphs(text: str) -> str:
    return "\n\n".join(prose(paragraph) for paragraph in text.split("\n\n"))


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    role = operation.get("x-required-role")
    text = f"\n### {method.upper()} {escape(path)}\n\n{prose_paragraphs(operation['description'])}\n\n"
    text += f"Role: {role}.\n" if role else "No token is needed.\n"
    if parameters := operation.get("parameters"):
        rows = (
            [
                code(one["name"]),
                one["in"],
                kind(one["schema"]),
                "required" if one.get("required") else _default(one["schema"]),
                prose(one.get("description", "")),
            ]
            for one in parameters
        )
        text += "\n" + table(["Parameter", "In", "Type", "Default", "Description"], rows)
    if body := operation.get("requestBody"):
        text += f"\nBody: {_content(body['content'])}.\n"
    answers = [
        f"{status}{_content_suffix(answer)}"
        for status, answer in operation["responses"].items()
        if int(status) < 400
    ]
    errors = ", ".join(status for status in operation["responses"] if int(status) >= 400)
    return text + f"\nResponse: {'; '.join(answers)}. Errors: {errors}.\n"


def _content_suffix(answer: dict[str, Any]) -> str:
    return f", {_content(answer['content'])}" if answer.get("content") else ""


def _content(content: dict[str, Any]) -> str:
    return " or ".join(f"{code(media)}{_of(one.get('schema', {}))}" for media, one in content.items())


def _of(schema: dict[str, Any]) -> str:
    described = "" if schema.get("format") == "binary" or schema in ({}, {"type": "string"}) else kind(schema)
    return f", {described}" if described else ""


def _schema(name: str, schema: dict[str, Any]) -> str:
    text = f"\n(http-{name.lower()})=\n### {name}\n\n{prose_paragraphs(schema.get('description', ''))}\n\n"
    if "enum" in schema:
        return text + f"One of {', '.join(code(value) for value in schema['enum'])}.\n"
    required = schema.get("required", ())
    rows = [
        [
            code(key),
            kind(one),
            "" if key in required else _default(one) or "optional",
            prose(one.get("description", "")),
        ]
        for key, one in schema["properties"].items()
    ]
    return text + table(["Field", "Type", "Default", "Description"], rows)


def kind(schema: dict[str, Any]) -> str:
    """Return the type of a value, with links to the schemas of objects."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#http-{name.lower()})"
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(filter(None, map(kind, options)))
    if len(schema.get("allOf", ())) == 1:
        return kind(schema["allOf"][0])
    if "enum" in schema or "const" in schema:
        return " or ".join(code(str(value)) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {})) or 'values'}"
    if schema.get("format") == "date-time":
        return "time"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"object of {kind(values)}" if isinstance(values, dict) and kind(values) else "object"
    return str(schema.get("type", ""))


def _default(schema: dict[str, Any]) -> str:
    default = schema.get("default")
    return (
        "" if default is None else code(str(default).lower() if isinstance(default, bool) else str(default))
    )
