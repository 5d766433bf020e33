"""Reading of the settings: one TOML file, overridden by the environment and by CLI options.

All mistakes of a file are reported at once: those of single values, which `settings` checks, and those of
values that do not go together, which `conflicts` finds.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
import zoneinfo
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource

from occupair.errors import InputError
from occupair.live.config.conflicts import Table, find_conflicts
from occupair.live.config.mistakes import Key, Mistakes, suggest, unknown_key
from occupair.live.config.room_settings import (
    SOURCE_TAGS,
    BacnetPoint,
    OutdoorAirTable,
    RoomConfig,
    Topic,
    VentilationPoint,
    VentilationTopic,
)
from occupair.live.config.settings import (
    BacnetConfig,
    Environment,
    Limits,
    MqttConfig,
    MqttTable,
    Origin,
    ServiceConfig,
    ServiceTable,
    SettingsFile,
    TokenConfig,
)

VARIABLES: dict[str, Key] = {
    f"OCCUPAIR_{prefix}{key.upper()}": (section, key)
    for section, prefix, model in (
        ("service", "", ServiceTable),
        ("mqtt", "MQTT__", MqttTable),
        ("bacnet", "BACNET__", BacnetConfig),
        ("limits", "LIMITS__", Limits),
    )
    for key in model.model_fields
}
"""The environment variables of the service, with the key that each overrides."""
_OPTION_VARIABLES = {"--workers": "OCCUPAIR_SHARD"}  # of options that are not named like their key
_ALTERNATIVES = {"password": "password_file", "password_file": "password"}
_NOT_KEYS = ("[key]", *SOURCE_TAGS)  # parts of locations of pydantic that the file does not have
_RULES = {  # messages that replace those of pydantic
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
    "float_type": "must be a number",
    "missing": "is required",
    "too_short": "must have at least one room, [rooms.ID]",
}


def read_config(
    path: str | os.PathLike[str],
    environ: Mapping[str, str] = os.environ,
    *,
    options: Mapping[str, str] | None = None,
) -> ServiceConfig:
    """Read and check the settings of the service.

    Parameters
    ----------
    path : path
        TOML file. Relative paths in it are relative to the file.
    environ : mapping
        Environment variables: ``OCCUPAIR_PORT`` overrides ``port`` of ``[service]``,
        ``OCCUPAIR_MQTT__PASSWORD`` overrides ``password`` of ``[mqtt]``, and likewise for ``[limits]``.
        Empty variables are ignored.
    options : mapping, optional
        CLI options, which override both, e.g. ``{"--port": "80"}``.

    Raises
    ------
    InputError
        With all mistakes, one per line: ``rooms.toml, line 12, rooms.lab.name: must be a string, got 5``.
    """
    path = Path(path)
    origin = Origin(path, _settings_in(environ), dict(options or {}))
    text = origin.text()
    values = _parse_toml(path, text)
    mistakes = Mistakes(path, text)
    _override(values, origin, mistakes)
    return _to_config(_check(values, path.resolve().parent, mistakes), origin)


def config_from_values(
    values: Table, environ: Mapping[str, str], *, folder: Path, mistakes: Mistakes
) -> ServiceConfig:
    """Return settings that are not in a file of their own, such as the options of a Home Assistant app.

    Parameters
    ----------
    values : dict
        The tables of a settings file.
    environ : mapping
        Environment variables, which override them.
    folder : Path
        Relative paths in the values are relative to this folder.
    mistakes : Mistakes
        Has the place of each value, for messages.

    Raises
    ------
    InputError
        With all mistakes, one per line.
    """
    _override(values, Origin(folder, _settings_in(environ), {}), mistakes)
    return _to_config(_check(values, folder, mistakes), None)


def reread_config(config: ServiceConfig) -> ServiceConfig:
    """Read the settings again from the same file, with the environment and options of the first time."""
    if config.origin is None:
        raise InputError("settings that were not read from a file cannot be read again")
    return read_config(config.origin.path, config.origin.environ, options=config.origin.options)


def _settings_in(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith("OCCUPAIR_")}


def _check(values: Table, folder: Path, mistakes: Mistakes) -> SettingsFile:
    """Return the tables of a file, or raise `InputError` with all mistakes."""
    values.setdefault("service", {})
    values.setdefault("rooms", {})
    tables = None
    try:
        tables = SettingsFile.model_validate(values, context={"folder": folder})
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False):
            _add_error(error, values, mistakes)
    for key, rule, *value in find_conflicts(values):
        mistakes.add(key, rule, *value)
    if mistakes or tables is None:
        raise InputError(*mistakes.lines)
    return tables


def _parse_toml(path: Path, text: str) -> Table:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        reason, found, place = str(error).rpartition(" (at ")
        reason = reason if found else str(error)
        line = f", {place.split(', column')[0]}" if place.startswith("line") else ""
        raise InputError(f"{path}{line}: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply") from None


def _override(values: Table, origin: Origin, mistakes: Mistakes) -> None:
    """Replace values of the file by those of the environment and of the CLI options."""
    given = {name: (name, value) for name, value in origin.environ.items() if value}
    for option, value in origin.options.items():
        variable = f"OCCUPAIR_{option.removeprefix('--').upper()}"
        given[_OPTION_VARIABLES.get(option, variable)] = (option, value)
    for variable, (name, _) in given.items():
        if variable in VARIABLES:
            mistakes.overrides[VARIABLES[variable]] = name
        elif "__" in variable:  # others may be set for other programs, e.g. by Kubernetes
            mistakes.overrides[variable,] = variable
            mistakes.add((variable,), unknown_key(variable, VARIABLES))
    source = EnvSettingsSource(Environment)
    source.env_vars = {name.lower(): value for name, (_, value) in given.items() if name in VARIABLES}
    nested = source()
    tables = {name: nested.pop(name) for name in ("mqtt", "bacnet", "limits") if name in nested}
    models: dict[str, type[BaseModel]] = {
        "service": ServiceTable,
        "mqtt": MqttTable,
        "bacnet": BacnetConfig,
        "limits": Limits,
    }
    for section, table in ({"service": nested} | tables).items():
        if not isinstance(values.setdefault(section, {}), dict):
            continue
        for key, text in table.items():
            values[section].pop(_ALTERNATIVES.get(key), None)
            values[section][key] = _parse_variable(text, models[section].model_fields[key].annotation)


def _parse_variable(text: str, kind: object) -> object:
    """Parse the text of a variable as TOML would have the value; the model refuses what stays a string."""
    if kind is bool:
        switches = {"true": True, "yes": True, "on": True, "1": True}
        switches |= {"false": False, "no": False, "off": False, "0": False}
        return switches.get(text.strip().lower(), text)
    for number in (int, float) if kind in (int, float) else ():
        try:
            value = number(text)
        except ValueError:
            continue
        return value if number is int or math.isfinite(value) else text
    return text


def _add_error(error: ErrorDetails, values: Table, mistakes: Mistakes) -> None:
    """Add an error of pydantic as a mistake of a settings file."""
    kind, value = error["type"], error["input"]
    key = _key_in(values, tuple(str(part) for part in error["loc"] if part not in _NOT_KEYS))
    if kind == "extra_forbidden":
        mistakes.add(key, unknown_key(key[-1], _known_keys(key, error["loc"])))
    elif kind in ("model_type", "dict_type"):
        header = f"a table, [{'.'.join(key)}]" if kind == "model_type" else f"tables, [{key[0]}.NAME]"
        mistakes.add(key, f"must be {header}", value)
    elif kind in ("missing", "too_short"):
        mistakes.add(key, _RULES[kind])
    else:
        cause = error.get("ctx", {}).get("error")
        rule = str(cause) if cause else _RULES.get(kind, error["msg"].replace("Input should be", "must be"))
        known = re.findall(r"'([^']+)'", rule) if kind == "literal_error" else ()
        if key[-1] == "timezone":
            known = sorted(zoneinfo.available_timezones())
        mistakes.add(key, rule, value, hint=suggest(value, known))


def _key_in(values: Any, loc: Key) -> Key:
    """Return the part of a location that the file has: a plain topic has no key ``topic`` in it."""
    for depth, part in enumerate(loc):
        if not isinstance(values, dict):
            return loc[:depth]
        values = values.get(part)
    return loc


def _known_keys(key: Key, loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the table of a key, at a location of pydantic, may have."""
    if len(key) == 1:
        return list(SettingsFile.model_fields)
    if key[2:3] == ("outdoor_air",):
        return list(OutdoorAirTable.model_fields)
    if len(key) == 4:
        kinds: dict[object, tuple[type[BaseModel], type[BaseModel]]] = {
            "<mqtt>": (Topic, VentilationTopic),
            "<bacnet>": (BacnetPoint, VentilationPoint),
        }
        return list(kinds[loc[3]][key[2] == "ventilation"].model_fields)
    annotation = SettingsFile.model_fields[key[0]].annotation
    model = next(one for one in (annotation, *get_args(annotation)) if hasattr(one, "model_fields"))
    return list(model.model_fields)


def _to_config(tables: SettingsFile, origin: Origin | None) -> ServiceConfig:
    """Return the settings as the service uses them, with the defaults that depend on other settings."""
    service = tables.service
    rooms = {
        name: RoomConfig(**{"id": name, "name": name, "timezone": service.timezone, **_given(room)})
        for name, room in tables.rooms.items()
    }
    return ServiceConfig(
        **dict(service),
        tokens=tuple(TokenConfig(name=name, **dict(token)) for name, token in tables.tokens.items()),
        limits=tables.limits,
        mqtt=None if tables.mqtt is None else _to_mqtt(tables.mqtt),
        bacnet=tables.bacnet,
        rooms=rooms,
        origin=origin,
    )


def _to_mqtt(table: MqttTable) -> MqttConfig:
    given = _given(table)
    if "password_file" in given:
        given["password"] = given.pop("password_file")
    return MqttConfig(**{"port": 8883 if table.tls else 1883, **given})


def _given(table: BaseModel) -> Table:
    return {key: getattr(table, key) for key in table.model_fields_set}
