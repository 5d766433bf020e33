"""Settings of the live service, from the models that check them."""

import re
from typing import Any

from occupair.live.config.load import VARIABLES
from occupair.live.config.settings import SettingsFile
from tools.reference.markdown import code, prose, table

INTRODUCTION = """# Settings of the live service

Settings are in one TOML file, usually `rooms.toml`. Check them with `occupair serve --check rooms.toml`.
Paths are relative to the file. Each key of {sections} can be overridden by an environment variable:
`OCCUPAIR_` and the key in capital letters, with the name of the table and two underscores between them
unless it is `[service]`, such as {examples}.

Keys marked as required must be set; all others may be left out.
"""
SECTIONS = {
    "[service]": "ServiceTable",
    "[mqtt]": "MqttTable",
    "[bacnet]": "BacnetConfig",
    "[limits]": "Limits",
    "[tokens.NAME]": "TokenTable",
    "[rooms.ID]": "RoomTable",
    "[rooms.ID.outdoor_air]": "OutdoorAirTable",
}
SOURCES = {"MQTT topic": "VentilationTopic", "BACnet object": "VentilationPoint"}
SOURCES_TEXT = """
## Sources of readings

The value of `co2`, `ventilation` and each optional sensor is a topic, such as `"zigbee2mqtt/meeting-1"`, or
a table. With the key `topic` it is an MQTT topic, with the key `bacnet` a BACnet object. `full` is a key of
`ventilation` only.
"""
_UNIT = re.compile(r" ?\[([^\]`]+)\](?=[ .;,]|$)")


def page() -> str:
    models = SettingsFile.model_json_schema()["$defs"]
    tables = sorted({f"`[{section}]`" for section, _ in VARIABLES.values()})
    examples = ", ".join(
        f"`{name}`" for name in ("OCCUPAIR_PORT", "OCCUPAIR_MQTT__PASSWORD") if name in VARIABLES
    )
    text = INTRODUCTION.format(sections=", ".join(tables), examples=examples)
    for name, model in SECTIONS.items():
        if name == "[rooms.ID.outdoor_air]":
            text += SOURCES_TEXT
            for title, source in SOURCES.items():
                text += f"\n### {title}\n\n{settings_table(models[source])}"
        text += f"\n## `{name}`\n\n{prose(models[model]['description'])}\n\n{settings_table(models[model])}"
    return text


def settings_table(model: dict[str, Any]) -> str:
    """Return the keys of a table with their types, defaults, units and descriptions."""
    rows = []
    for key, schema in model["properties"].items():
        description, default = schema["description"], _default(key, schema, model)
        if found := re.search(r" Default(?:: | with )(.*)\.$", description):
            is_condition = " Default with " in description
            default = f"{default}; with {prose(found[1])}" if is_condition else prose(found[1])
            description = description[: found.start()]
        unit = _UNIT.search(description)
        rows.append(
            [
                code(key),
                prose(_UNIT.sub("", description, count=1)),
                unit[1] if unit else "",
                _kind(schema),
                default,
            ]
        )
    return table(["Key", "Description", "Unit", "Type", "Default"], rows)


def _default(key: str, schema: dict[str, Any], model: dict[str, Any]) -> str:
    if key in model.get("required", ()):
        return "required"
    default = schema.get("default")
    if default is None or default == [] or default == "":
        return ""
    if isinstance(default, bool):
        return code(str(default).lower())
    return code(f'"{default}"' if isinstance(default, str) else f"{default:.15g}")


def _kind(schema: dict[str, Any]) -> str:
    """Return the type of a setting, with its range or its values."""
    for inner in schema.get("anyOf", ()):
        if inner != {"type": "null"} and len(schema["anyOf"]) == 2 and {"type": "null"} in schema["anyOf"]:
            return _kind(inner)
    if "anyOf" in schema:
        return " or ".join(_kind(inner) for inner in schema["anyOf"])
    if "oneOf" in schema:
        return "[source](#sources-of-readings)"
    if "$ref" in schema:
        return "string" if schema["$ref"].endswith("Shard") else "table"
    if "enum" in schema:
        return " or ".join(code(f'"{value}"') for value in schema["enum"])
    if schema.get("format") == "path":
        return "path"
    kind = {"boolean": "true or false", "array": "list"}.get(schema["type"], schema["type"])
    return kind + _range(schema)


def _range(schema: dict[str, Any]) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None or high is None:
        return ""
    if high >= 1e9:
        return ", positive" if "exclusiveMinimum" in schema else f", {low:,.15g} or more"
    above = "above " if "exclusiveMinimum" in schema else ""
    below = "below " if "exclusiveMaximum" in schema else ""
    return f", {above}{low:,.15g} to {below}{high:,.15g}"
