"""Reading of the tables of the settings, by their rules; all faults of a file are told at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from occupair.errors import InputError
from occupair.live.config import rules
from occupair.live.config.keys import (
    BY_VARIABLE,
    CO2,
    LIMITS,
    MQTT,
    ROOM,
    SECTIONS,
    SERVICE,
    TOKEN,
    VENTILATION,
)
from occupair.live.config.mistakes import Faults
from occupair.live.config.rules import Broken, Rule
from occupair.live.config.settings import (
    Limits,
    MqttConfig,
    Origin,
    RoomConfig,
    ServiceConfig,
    TokenConfig,
    Topic,
)
from occupair.live.config.toml_lines import Key
from occupair.web.hosts import is_loopback

Table = dict[str, Any]

_INSTEAD = {"password": "password_file", "password_file": "password"}  # the file's, where a variable has one


def read_sections(values: Table, text: str, origin: Origin) -> ServiceConfig:
    """Make settings of what a file, the environment and the options say.

    Parameters
    ----------
    values, text
        What the file says, and the file as it is, to find lines in.
    origin : Origin
        Where it all comes from.

    Raises
    ------
    InputError
        With all faults, a line for each.
    """
    faults = Faults(origin.path, text)
    _override(values, origin, faults)
    for name in values:
        if name not in SECTIONS:
            faults.add((name,), rules.unknown_key(name, SECTIONS))
    folder = origin.path.resolve().parent
    service = _take(values, ("service",), SERVICE, faults)
    mqtt = _read_mqtt(values, folder, faults)
    config = ServiceConfig(
        store=_beside(service.pop("store", "sqlite:///occupair.db"), folder),
        tokens=_read_tokens(values, faults),
        limits=Limits(**_take(values, ("limits",), LIMITS, faults)),
        mqtt=mqtt,
        rooms=_read_rooms(values, service.get("timezone", "UTC"), folder, mqtt, faults),
        origin=origin,
        **service,
    )
    if not is_loopback(config.host) and not values.get("tokens"):
        rule = "must be a loopback address, e.g. 127.0.0.1, as long as there are no tokens"
        faults.add(("service", "host"), rule, config.host)
    if faults:
        raise InputError(str(faults))
    return config


def _override(values: Table, origin: Origin, faults: Faults) -> None:
    """Put what the environment and the options say in place of what the file says."""
    said = {name: (name, value) for name, value in origin.environ.items() if value}
    for option, value in origin.options.items():
        said[f"OCCUPAIR_{option.removeprefix('--').upper()}"] = (option, value)
    for variable, (name, value) in said.items():
        if variable in BY_VARIABLE:
            key, rule = BY_VARIABLE[variable]
            faults.given_by[key] = name
            section = values.setdefault(key[0], {})
            if isinstance(section, dict):
                section.pop(_INSTEAD.get(key[1]), None)
                section[key[1]] = rule.from_text(value)
        elif "__" in variable:  # others may be of other parts, or made by Kubernetes for a service's address
            faults.given_by[(variable,)] = variable
            faults.add((variable,), rules.unknown_key(variable, BY_VARIABLE))


def _take(values: Table, path: Key, known: Mapping[str, Rule], faults: Faults, *needed: str) -> Table:
    """Take the values of a table that keep their rules; note those that do not."""
    table: Any = values
    for key in path:
        table = table.get(key, {})
    if not isinstance(table, dict):
        faults.add(path, f"must be a table, [{'.'.join(map(str, path))}]", table)
        return {}
    taken: Table = {}
    for key, value in table.items():
        if key not in known:
            faults.add((*path, key), rules.unknown_key(key, known))
            continue
        try:
            taken[key] = known[key].check(value)
        except Broken as rule:
            faults.add((*path, key), str(rule), value, hint=rule.hint, secret=known[key].secret)
    for key in needed:
        if key not in table:
            faults.add((*path, key), "must be given")
    return taken


def _names(values: Table, section: str, faults: Faults) -> list[str]:
    """Give the names of the tables of a section, those that may be names."""
    tables = values.get(section, {})
    if not isinstance(tables, dict):
        faults.add((section,), f"must be tables, [{section}.NAME]", tables)
        return []
    for name in tables:
        if not rules.ROOM_ID.fullmatch(name):
            faults.add((section, name), "must be named by 1 to 64 of a-z, 0-9, _ and -", name)
    return list(tables)


def _read_tokens(values: Table, faults: Faults) -> tuple[TokenConfig, ...]:
    tokens: dict[str, TokenConfig] = {}
    for name in _names(values, "tokens", faults):
        path = ("tokens", name)
        taken = _take(values, path, TOKEN, faults, "role", "hash")
        if len(taken) < len(TOKEN):
            continue
        if taken["hash"] in tokens:
            faults.add((*path, "hash"), f"must be another token than tokens.{tokens[taken['hash']].name}")
        tokens[taken["hash"]] = TokenConfig(name, **taken)
    return tuple(tokens.values())


def _read_mqtt(values: Table, folder: Path, faults: Faults) -> MqttConfig | None:
    if "mqtt" not in values:
        return None
    taken = _take(values, ("mqtt",), MQTT, faults, "host")
    for key in ("password_file", "ca_file", "cert_file", "key_file"):
        if key in taken:
            taken[key] = folder / taken[key]
    _check_mqtt(taken, faults)
    if "password_file" in taken:
        taken["password"] = _read_password(taken.pop("password_file"), faults)
    if taken.get("tls"):
        taken.setdefault("port", 8883)
    return MqttConfig(**taken) if "host" in taken else None


def _check_mqtt(taken: Table, faults: Faults) -> None:
    """Note settings of the broker that do not go together."""
    for key, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
        if key in taken and other not in taken:
            faults.add(("mqtt", key), f"needs mqtt.{other}, too")
    for key in ("ca_file", "cert_file"):
        if key in taken and not taken.get("tls"):
            faults.add(("mqtt", key), "needs mqtt.tls = true")
    if "password" in taken and "password_file" in taken:
        faults.add(("mqtt", "password_file"), "must not be given beside mqtt.password")
    if (
        "user" not in taken
        and taken.get("version") == "3.1.1"
        and taken.keys() & {"password", "password_file"}
    ):
        faults.add(("mqtt", "user"), "must be given where there is a password, by MQTT 3.1.1")


def _read_password(path: Path, faults: Faults) -> SecretStr | None:
    key = ("mqtt", "password_file")
    try:
        password = path.read_text("utf-8").rstrip("\r\n")
    except OSError as error:
        faults.add(key, f"must be a file that can be read ({error.strerror})", str(path))
        return None
    except UnicodeDecodeError:
        faults.add(key, "must be a file of UTF-8 text", str(path))
        return None
    if not password:
        faults.add(key, "must be a file that is not empty", str(path))
    return SecretStr(password)


def _read_rooms(
    values: Table, timezone: str, folder: Path, mqtt: MqttConfig | None, faults: Faults
) -> dict[str, RoomConfig]:
    if values.get("rooms", {}) == {}:
        faults.add(("rooms",), "must have one room at least, [rooms.NAME]")
    rooms = {}
    for name in _names(values, "rooms", faults):
        path = ("rooms", name)
        taken: Table = {"name": name, "timezone": timezone} | _take(values, path, ROOM, faults)
        for quantity, known in (("co2", CO2), ("ventilation", VENTILATION)):
            if quantity in taken:
                taken[quantity] = _read_topic(values, (*path, quantity), known, mqtt, faults)
        if "model" in taken:
            taken["model"] = folder / taken["model"]
        rooms[name] = RoomConfig(id=name, **taken)
    return rooms


def _read_topic(
    values: Table, path: Key, known: Mapping[str, Rule], mqtt: MqttConfig | None, faults: Faults
) -> Topic | None:
    given = values["rooms"][path[1]][path[2]]
    if not isinstance(given, dict):  # a text is the same as a table with a topic
        at, taken = path, _take_topic(given, path, faults)
    else:
        at, taken = (*path, "topic"), _take(values, path, known, faults, "topic")
        _check_shape(given, path, faults)
        taken.setdefault("shape", "json" if "path" in taken else "auto")
    if "topic" not in taken:
        return None
    if mqtt is not None and _is_own(taken["topic"], values["rooms"], mqtt.prefix):
        faults.add(at, "must not be a topic that this service publishes on", taken["topic"])
    return Topic(**taken)


def _take_topic(given: object, path: Key, faults: Faults) -> Table:
    try:
        return {"topic": rules.topic(given)}
    except Broken as rule:
        faults.add(path, str(rule), given)
        return {}


def _check_shape(given: Table, path: Key, faults: Faults) -> None:
    """Note a path where there is no JSON by a path, and the other way round."""
    shape = given.get("shape", "json" if "path" in given else "auto")
    if shape == "json" and "path" not in given:
        faults.add((*path, "path"), "must be given where shape is 'json'")
    if shape in ("auto", "number", "zigbee2mqtt", "tasmota") and "path" in given:
        faults.add((*path, "path"), f"must not be given where shape is {shape!r}, only where it is 'json'")
    if shape == "number" and "time_path" in given:
        faults.add((*path, "time_path"), "must not be given where shape is 'number'")


def _is_own(topic: str, rooms: Table, prefix: str) -> bool:
    """Tell whether this service publishes on a topic: what it said would come back as a reading."""
    room, _, end = topic.removeprefix(f"{prefix}/").partition("/")
    ours = topic.startswith(f"{prefix}/") and room in rooms and end in ("state", "availability")
    return ours or topic == f"{prefix}/status"


def _beside(store: str, folder: Path) -> str:
    """Put a database file with a relative path beside the settings."""
    start, _, rest = store.partition("sqlite:///")
    if start or not rest:
        return store
    name, question, query = rest.partition("?")
    return f"sqlite:///{folder / name}{question}{query}"
