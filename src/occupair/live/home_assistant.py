"""The service as an app of Home Assistant (``deploy/home-assistant-app``).

Settings come from the app's options, or from ``rooms.toml`` in its configuration folder. The Supervisor names
the broker. The page is shown by ingress, whose proxy is the only address that needs no token. The Supervisor
writes the options for root only, so the container starts as root and continues as an ordinary user.
"""

from __future__ import annotations

import http.client
import json
import os
import tomllib
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from occupair.errors import InputError
from occupair.live.config import VARIABLES, ServiceConfig, config_from_values, read_config
from occupair.live.config.mistakes import Key, Mistakes, unknown_key
from occupair.live.config.room_ids import make_room_id, spell_id
from occupair.live.service import serve
from occupair.live.startup_check import check_files
from occupair.wording import quoted

INGRESS_ADDRESS = "172.30.32.2"
"""Address of the ingress proxy in every Home Assistant installation."""
PORT = 8099
"""Port that ingress connects to (``ingress_port`` of the app, whose default it is)."""
USER = 10_001
"""User and group that the service runs as, which the image creates."""
ACCESS = "write"
"""Default of the option ``access``: users of Home Assistant may enter head counts, not manage models."""
SUPERVISOR_TIMEOUT = 10.0
"""How long the Supervisor may take to respond [s]."""

OPTIONS: dict[str, Key] = {
    "access": ("service", "ingress_role"),
    "timezone": ("service", "timezone"),
    "retention_days": ("service", "retention_days"),
    "log_level": ("service", "log_level"),
    "mqtt_host": ("mqtt", "host"),
    "mqtt_port": ("mqtt", "port"),
    "mqtt_user": ("mqtt", "user"),
    "mqtt_password": ("mqtt", "password"),
    "mqtt_tls": ("mqtt", "tls"),
}
"""Options of the app besides ``rooms``, with the key of ``rooms.toml`` that each sets."""
ROOM_OPTIONS: dict[str, Key] = {
    "id": (),  # the name of the room's table
    "name": ("name",),
    "floor": ("floor",),
    "co2": ("co2", "topic"),
    "co2_path": ("co2", "path"),
    "ventilation": ("ventilation", "topic"),
    "ventilation_path": ("ventilation", "path"),
    "ventilation_full": ("ventilation", "full"),
    "volume": ("volume",),
    "area": ("area",),
    "height": ("height",),
    "capacity": ("capacity",),
    "closed": ("closed",),
    "interval": ("interval",),
    "model": ("model",),
}
"""Options of a room, with the key below ``[rooms.ID]`` that each sets."""


def serve_app(
    data: Path, config: Path, supervisor: str, *, environ: Mapping[str, str] = os.environ, user: int = USER
) -> None:
    """Run the service until it is stopped.

    Parameters
    ----------
    data : Path
        The app's private folder, with ``options.json``. The database is in its subfolder ``occupair``.
    config : Path
        The app's configuration folder, for ``rooms.toml`` and model files.
    supervisor : str
        URL of the Supervisor.
    environ : mapping
        Environment variables: ``SUPERVISOR_TOKEN``, ``TZ``, and those of the service.
    user : int
        User and group to continue as, if the process was started by root.
    """
    options = read_options(data / "options.json")
    broker = None
    token = environ.get("SUPERVISOR_TOKEN")
    if token and not options.get("mqtt_host"):
        broker = find_broker(supervisor, token)
    folder = data / "occupair"
    settings = read_settings(options, environ, broker=broker, config=config, folder=folder)
    for name in ("SUPERVISOR_TOKEN", "HASSIO_TOKEN"):
        os.environ.pop(name, None)  # the training processes do not need it
    folder.mkdir(mode=0o700, exist_ok=True)
    drop_privileges(folder, user)
    check_files(settings)
    serve(settings)


def read_options(path: Path) -> dict[str, Any]:
    """Read the options that the user has set in Home Assistant."""
    try:
        options = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: must be JSON: {error}") from None
    if not isinstance(options, dict):
        raise InputError(f"{path}: must be an object with the options of the app")
    return options


def find_broker(supervisor: str, token: str) -> dict[str, Any] | None:
    """Return the ``[mqtt]`` settings of the broker that the Supervisor knows, None if there is none."""
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{supervisor}/services/mqtt", headers=headers)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(request, timeout=SUPERVISOR_TIMEOUT) as response:
            found = json.load(response)["data"]
            given = {
                "host": found["host"],
                "port": found["port"],
                "user": found.get("username"),
                "password": found.get("password"),
                "tls": found.get("ssl"),
            }
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 400:  # no app provides the service
            return None
        raise InputError(f"the Supervisor does not name the MQTT broker: HTTP status {error.code}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise InputError(f"the Supervisor at {supervisor} does not respond: {reason}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError("the Supervisor does not name the MQTT broker: unexpected response") from None
    return {key: value for key, value in given.items() if value not in (None, "")}


def read_settings(
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    broker: Mapping[str, Any] | None,
    config: Path,
    folder: Path,
) -> ServiceConfig:
    """Return the settings of the service.

    Parameters
    ----------
    options : mapping
        Options of the app.
    environ : mapping
        Environment variables, which override all other settings.
    broker : mapping, optional
        ``[mqtt]`` settings of the Supervisor's broker, unless the options or ``rooms.toml`` name another.
    config : Path
        Folder of ``rooms.toml``, if there is one, and of model files.
    folder : Path
        Folder of the database.

    Raises
    ------
    InputError
        With all mistakes, one per line: ``option capacity of room 'Lab': must be an integer, got 2.5``.
    """
    fixed = {"OCCUPAIR_HOST": "0.0.0.0", "OCCUPAIR_PORT": str(PORT), "OCCUPAIR_INGRESS": INGRESS_ADDRESS}
    given = fixed | {name: value for name, value in environ.items() if value}
    service = {
        "store": f"sqlite:///{folder / 'occupair.db'}",
        "timezone": given.get("TZ", "UTC"),
        "ingress_role": ACCESS,
    }
    if (config / "rooms.toml").exists():
        return _read_file(config / "rooms.toml", options, given, service, broker)
    values: dict[str, Any] = {"service": service}
    if broker is not None:
        values["mqtt"] = dict(broker)
    mistakes = Mistakes(Path("options"), "")
    for name, value in options.items():
        if name == "rooms":
            continue
        if name not in OPTIONS:
            _refuse(name, f"option {name}", OPTIONS, mistakes)
        elif value not in (None, ""):
            _put(values, OPTIONS[name], value, f"option {name}", mistakes)
    if "host" not in values.get("mqtt", {}):
        mistakes.overrides["mqtt",] = "option mqtt_host"
        mistakes.add(
            ("mqtt",), "there is no MQTT broker: install the app Mosquitto broker, or set this option"
        )
        values.pop("mqtt", None)
    values["rooms"] = {}
    mistakes.overrides["rooms",] = "option rooms"
    rooms = options.get("rooms")
    if not rooms:
        mistakes.add(("rooms",), "must have at least one room")
        values["rooms"]["none"] = {}  # not to be reported again
    for number, room in enumerate(rooms if isinstance(rooms, list) else [rooms] if rooms else [], start=1):
        _add_room(values["rooms"], room, number, mistakes)
    return config_from_values(values, given, folder=config, mistakes=mistakes)


def _read_file(
    path: Path,
    options: Mapping[str, Any],
    environ: dict[str, str],
    service: Mapping[str, str],
    broker: Mapping[str, Any] | None,
) -> ServiceConfig:
    """Read ``rooms.toml``, with defaults for what it does not set."""
    if options.get("rooms"):
        raise InputError(f"option rooms: must be empty, because there is {path}")
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        tables = {}  # reported below
    if unknown := [name for name in options if name not in OPTIONS and name != "rooms"]:
        raise InputError(f"option {unknown[0]}: {unknown_key(unknown[0], OPTIONS)}")
    given = {OPTIONS[name]: value for name, value in options.items() if name in OPTIONS}
    defaults: dict[Key, Any] = {("service", key): value for key, value in service.items()}
    defaults |= {("mqtt", key): value for key, value in (broker or {}).items()}
    defaults |= {key: value for key, value in given.items() if value not in (None, "")}
    in_file = {name: table for name, table in tables.items() if isinstance(table, dict)}
    variables = {key: variable for variable, key in VARIABLES.items()}
    for (section, key), value in defaults.items():
        is_other_broker = section == "mqtt" and "host" in in_file.get("mqtt", {})
        if key not in in_file.get(section, {}) and not is_other_broker:
            environ.setdefault(variables[section, key], str(value))
    return read_config(path, environ)


def _room_id(name: str, rooms: Mapping[str, Any]) -> str:
    """Return the id of a room that has only a name.

    It does not depend on the other rooms as long as the name can be spelled in ASCII, because the history of
    a room is stored by its id.
    """
    return spell_id(name) or make_room_id(name, rooms)


def _add_room(rooms: dict[str, Any], options: Any, number: int, mistakes: Mistakes) -> None:
    """Add the table of a room, also of one that is reported as a mistake."""
    if not isinstance(options, dict):
        mistakes.add(("rooms",), "must be a list of rooms", options)
        rooms[str(number)] = {}
        return
    name = options.get("name")
    place = f"of room {quoted(name)}" if name else f"of room {number}"
    room = str(options.get("id") or "") or (_room_id(str(name), rooms) if name else "")
    if not room or room in rooms:
        mistakes.overrides["rooms", str(number)] = f"option id {place}"
        rule = "must differ from that of other rooms" if room else "is required, because it has no name"
        mistakes.add(("rooms", str(number)), rule, *([room] if room else []))
        rooms[str(number)] = {}
        return
    rooms[room] = {}
    mistakes.overrides["rooms", room] = f"option id {place}"
    for option, key in ROOM_OPTIONS.items():
        if key:
            mistakes.overrides["rooms", room, *key] = f"option {option} {place}"
    for option, value in options.items():
        if option not in ROOM_OPTIONS:
            _refuse(option, f"option {option} {place}", ROOM_OPTIONS, mistakes)
        elif value not in (None, "") and ROOM_OPTIONS[option]:
            _put(rooms[room], ROOM_OPTIONS[option], value)
    if "co2" not in rooms[room]:
        mistakes.add(("rooms", room, "co2", "topic"), "is required")


def _put(
    values: dict[str, Any], key: Key, value: Any, place: str = "", mistakes: Mistakes | None = None
) -> None:
    """Set a value of nested tables, and note the place to name in messages about it."""
    for part in key[:-1]:
        values = values.setdefault(part, {})
    values[key[-1]] = value
    if mistakes is not None:
        mistakes.overrides[key] = place


def _refuse(option: str, place: str, known: Mapping[str, Key], mistakes: Mistakes) -> None:
    mistakes.overrides["option", place] = place
    mistakes.add(("option", place), unknown_key(option, known))


def drop_privileges(folder: Path, user: int = USER) -> None:
    """Give a folder to a user and continue as that user, if this process is root's."""
    if os.geteuid() != 0:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
