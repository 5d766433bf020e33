"""A look at what settings lead to before they run: models that cannot be read, and what would surprise."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occupair.errors import InputError
from occupair.live.config.keys import BY_VARIABLE
from occupair.live.config.mistakes import Faults
from occupair.live.config.settings import Origin, RoomConfig, ServiceConfig, Topic
from occupair.live.logs import password_of
from occupair.web.hosts import is_loopback

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

_OTHER_VARIABLES = ("OCCUPAIR_CACHE", "OCCUPAIR_DATA")


@dataclass(frozen=True)
class Outlook:
    """What settings lead to: a line for each room, what may surprise, and what cannot work."""

    rooms: list[str]
    warnings: list[str]
    faults: str


def check_files(config: ServiceConfig) -> None:
    """Check at the start that the files which settings name can be read; what is in them is not looked at.

    Raises
    ------
    InputError
        With all that cannot, a line for each.
    """
    faults = _faults_of(config)
    for key, path in _files(config):
        _check_readable(key, path, faults)
    if faults:
        raise InputError(str(faults))


def look_at(config: ServiceConfig) -> Outlook:
    """Load every model, and tell of every room what it will do."""
    faults = _faults_of(config)
    lines, warnings = [], list(_warnings(config))
    load = cache(_load)  # rooms may share a model
    for key, path in _files(config):
        if key[0] == "mqtt":
            _check_readable(key, path, faults)
    for room in config.rooms.values():
        model = load(room.model) if room.model else None
        if isinstance(model, str):
            faults.add(
                ("rooms", room.id, "model"), f"must be a model of 'occupair fit' that can be read: {model}"
            )
            continue
        lines.append(_line(room, model))
        warnings += [f"{room.id}: {words}" for words in _surprises(room, model, config)]
    return Outlook(lines, warnings, str(faults))


def _files(config: ServiceConfig) -> Iterator[tuple[tuple[str, ...], Path]]:
    for room in config.rooms.values():
        if room.model is not None:
            yield ("rooms", room.id, "model"), room.model
    for name in ("ca_file", "cert_file", "key_file"):
        if path := getattr(config.mqtt, name, None):
            yield ("mqtt", name), path


def _check_readable(key: tuple[str, ...], path: Path, faults: Faults) -> None:
    if not path.is_file():
        faults.add(key, "must be a file that is there", str(path))
    elif not os.access(path, os.R_OK):
        faults.add(key, "must be a file that this user may read", str(path))


def _load(path: Path) -> OccupancyEstimator | str:
    """Give the model in a file, or in words why there is none."""
    from occupair.estimator import OccupancyEstimator

    try:
        return OccupancyEstimator.load(path)
    except InputError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror}"


def _line(room: RoomConfig, model: OccupancyEstimator | None) -> str:
    if model is None or room.model is None:
        what = "no model"
    else:
        wants = "with" if model.uses_ventilation_ else "without"
        what = f"{room.model.name}, one reading every {model.interval_:g} min, {wants} ventilation"
    inputs = [
        _input(name, topic) for name, topic in (("co2", room.co2), ("ventilation", room.ventilation)) if topic
    ]
    return f"{room.id}: {room.name}; {what}; {', '.join(inputs) or 'readings by HTTP'}; {room.timezone}"


def _input(name: str, topic: Topic) -> str:
    shape = "" if topic.shape == "auto" else f" ({topic.shape}{' ' + topic.path if topic.path else ''})"
    full = "" if topic.full == 1 else f", full at {topic.full:g}"
    return f"{name} from {topic.topic}{shape}{full}"


def _surprises(room: RoomConfig, model: OccupancyEstimator | None, config: ServiceConfig) -> Iterator[str]:
    """Say what will work in a room, but perhaps not as was meant."""
    if config.mqtt is None and (room.co2 or room.ventilation):
        yield "has topics, and there is no [mqtt]: only HTTP brings readings"
    elif config.mqtt is not None and room.co2 is None:
        yield "has no co2 topic: only HTTP brings readings"
    if model is None:
        yield "has no model: its count is unknown until it is trained"
        return
    if model.uses_ventilation_ and room.ventilation is None:
        yield "its model wants ventilation, and it has no such topic: unless HTTP brings it, no count"
    if not model.uses_ventilation_ and room.ventilation is not None:
        yield "its model was trained without ventilation: what the topic says is kept but not used"
    if model.timezone_ is not None and model.timezone_ != room.timezone:
        yield f"its model was trained in {model.timezone_}, and its midnight is that of {room.timezone}"
    if room.stale_after < 2 * model.interval_:
        yield f"is stale after {room.stale_after:g} min, and its readings come every {model.interval_:g} min"


def _warnings(config: ServiceConfig) -> Iterator[str]:
    """Say what surprises about the service as a whole."""
    mqtt = config.mqtt
    if mqtt is not None and mqtt.password is not None and not mqtt.tls and not is_loopback(mqtt.host):
        yield f"the password of the broker goes to {mqtt.host} in the clear: set mqtt.tls = true"
    if not is_loopback(config.host):
        yield f"listens on {config.host} without TLS, of which it has none: put a proxy with TLS before it"
    if config.origin is not None:
        yield from _open_secrets(config.origin)
        yield from _idle_variables(config.origin)


def _open_secrets(origin: Origin) -> Iterator[str]:
    """Say which files with passwords everybody on this machine may read."""
    values: Any = tomllib.loads(origin.text())
    mqtt, store = values.get("mqtt", {}), values.get("service", {}).get("store", "")
    if ("password" in mqtt or password_of(store)) and _is_open(origin.path):
        yield f"{origin.path} has a password, and everybody on this machine may read it: chmod 640"
    if "password_file" in mqtt and _is_open(path := origin.path.parent / mqtt["password_file"]):
        yield f"{path} is a password, and everybody on this machine may read it: chmod 600"


def _idle_variables(origin: Origin) -> Iterator[str]:
    for name in sorted(origin.environ):
        if name not in BY_VARIABLE and name not in _OTHER_VARIABLES:
            yield f"{name} is set, and is no setting of the service"


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


def _faults_of(config: ServiceConfig) -> Faults:
    """Start to collect faults, which know the lines if the settings are those of a file."""
    if config.origin is None:
        return Faults(Path("settings"), "")
    faults = Faults(config.origin.path, config.origin.text())
    for name in config.origin.environ:
        if name in BY_VARIABLE:
            faults.given_by[BY_VARIABLE[name][0]] = name
    return faults
