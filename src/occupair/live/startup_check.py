"""Checks before the start: files that settings refer to, the store, and probable misconfiguration."""

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
from occupair.live.config.load import VARIABLES
from occupair.live.config.mistakes import Key, Mistakes
from occupair.live.config.room_settings import BacnetPoint, RoomConfig, Topic
from occupair.live.config.settings import Origin, ServiceConfig
from occupair.live.logs import password_in_url
from occupair.live.store import StoreError
from occupair.live.store.access_check import describe_access
from occupair.readings.gaps import LONGEST_GAP, default_gap
from occupair.web.hosts import is_loopback

if TYPE_CHECKING:
    from occupair.estimator import OccupancyEstimator

_OTHER_VARIABLES = ("OCCUPAIR_CACHE", "OCCUPAIR_DATA", "OCCUPAIR_TOKEN", "OCCUPAIR_URL")


@dataclass(frozen=True)
class CheckReport:
    """Summaries of the store and the rooms, warnings, and mistakes (empty if none)."""

    store: str
    rooms: list[str]
    warnings: list[str]
    mistakes: str


def check_files(config: ServiceConfig) -> None:
    """Check that the model and certificate files exist and can be read; their contents are not checked.

    Raises
    ------
    InputError
        With all files that cannot be read, one per line.
    """
    mistakes = _start_mistakes(config)
    for key, path in _find_files(config):
        _check_readable(key, path, mistakes)
    if mistakes:
        raise InputError(*mistakes.lines)


def check_config(config: ServiceConfig) -> CheckReport:
    """Try the store, load all models, summarise each room and collect warnings (``serve --check``)."""
    mistakes = _start_mistakes(config)
    store = ""
    try:
        store = describe_access(config.store)
    except StoreError as error:
        mistakes.add(("service", "store"), f"must be a database that the service can use: {error}")
    summaries, warnings = [], list(_service_warnings(config))
    load = cache(_load_model)  # rooms may share a model
    for key, path in _find_files(config):
        if key[0] == "mqtt":
            _check_readable(key, path, mistakes)
    for room in config.rooms.values():
        model = load(room.model) if room.model else None
        if isinstance(model, str):
            key = ("rooms", room.id, "model")
            mistakes.add(key, f"must be a model file written by 'occupair fit': {model}")
            continue
        summaries.append(_summarise(room, model))
        warnings += [f"{room.id}: {warning}" for warning in _room_warnings(room, model, config)]
    return CheckReport(store, summaries, warnings, "\n".join(mistakes.lines))


def _find_files(config: ServiceConfig) -> Iterator[tuple[Key, Path]]:
    for room in config.rooms.values():
        if room.model is not None:
            yield ("rooms", room.id, "model"), room.model
    for name in ("ca_file", "cert_file", "key_file"):
        if path := getattr(config.mqtt, name, None):
            yield ("mqtt", name), path


def _check_readable(key: Key, path: Path, mistakes: Mistakes) -> None:
    if not path.is_file():
        mistakes.add(key, "must be an existing file", str(path))
    elif not os.access(path, os.R_OK):
        mistakes.add(key, "must be readable by this user", str(path))


def _load_model(path: Path) -> OccupancyEstimator | str:
    """Return the model of a file, or the reason why it cannot be loaded."""
    from occupair.estimator import OccupancyEstimator

    try:
        return OccupancyEstimator.load(path)
    except InputError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror}"


def _summarise(room: RoomConfig, model: OccupancyEstimator | None) -> str:
    if model is None or room.model is None:
        summary = "no model" if room.properties is None else "no model, starts from its size and seats"
    else:
        ventilation = "with" if model.uses_ventilation_ else "without"
        summary = f"{room.model.name}, a reading every {model.interval_:g} min, {ventilation} ventilation"
        if model.sensor_names:
            summary += f" and {', '.join(model.sensor_names)}"
    sources = [_describe_source(name, source) for name, source in room.sources.items()]
    return f"{room.id}: {room.name}; {summary}; {', '.join(sources) or 'readings over HTTP'}; {room.timezone}"


def _describe_source(name: str, source: Topic | BacnetPoint) -> str:
    full = getattr(source, "full", 1.0)
    scale = "" if full == 1 else f", full at {full:g}"
    if isinstance(source, BacnetPoint):
        return f"{name} from {source.object} of BACnet device {source.bacnet}{scale}"
    shape = "" if source.shape == "auto" else f" ({source.shape}{' ' + source.path if source.path else ''})"
    return f"{name} from {source.topic}{shape}{scale}"


def _room_warnings(
    room: RoomConfig, model: OccupancyEstimator | None, config: ServiceConfig
) -> Iterator[str]:
    """Yield warnings about a room that works, but perhaps not as intended."""
    if config.mqtt is None and room.topics:
        yield "has topics but there is no [mqtt]: readings arrive over HTTP only"
    elif config.mqtt is not None and room.co2 is None:
        yield "has no source of co2: readings arrive over HTTP only"
    yield from _air_warnings(room, model)
    if model is None:
        if room.properties is None:
            yield "has no model: occupancy is unknown until it is trained, or set volume and capacity"
        return
    if model.uses_ventilation_ and room.co2 is not None and room.ventilation is None:
        yield "model needs ventilation, which has no source here: post it with CO2, or there is no count"
    if not model.uses_ventilation_ and room.ventilation is not None:
        yield "model was trained without ventilation: values of ventilation are stored but not used"
    missing = [name for name in model.sensor_names if name not in room.sources]
    if config.mqtt is not None and missing:
        names = ", ".join(missing)
        yield f"model uses {names}, which has no source here: not used unless it is posted over HTTP"
    if model.timezone_ is not None and model.timezone_ != room.timezone:
        zones = f"model was trained in {model.timezone_} but the room is in {room.timezone}"
        yield f"{zones}: days start at midnight in {model.timezone_}"
    if model.timezone_ is None and room.timezone == "UTC":
        yield "model was trained on local times but the room is in UTC: set the timezone of the room"
    sent_every, given = max(model.interval_, room.interval or 0.0), room.given_stale_after
    if sent_every > model.interval_:
        held = f"model was trained on a reading every {model.interval_:g} min, the sensor sends every"
        yield f"{held} {sent_every:g} min: values are held in between, estimates are less accurate"
    elif room.interval is None and _is_lorawan(room) and default_gap(model.interval_) <= LONGEST_GAP:
        rule = f"readings more than {LONGEST_GAP:g} min apart give no estimates"
        yield f"{rule}: set interval if the LoRaWAN sensor sends less often"
    if given is not None and given < 2 * sent_every:
        yield f"stale_after is {given:g} min with a reading every {sent_every:g} min"


def _air_warnings(room: RoomConfig, model: OccupancyEstimator | None) -> Iterator[str]:
    """Yield warnings about recommended outdoor air that is never enough, or never follows the count."""
    if (control := room.air_control) is None:
        return
    required = control.demand.flow(control.design_people)
    if required > control.highest:
        yield (
            f"outdoor_air.maximum is {control.highest:g} L/s, but {control.demand.standard} requires "
            f"{required:.0f} L/s for {control.design_people:g} people"
        )
    if model is not None and not hasattr(model, "room_"):
        yield "model has no prediction intervals: outdoor_air is always the design flow"


def _is_lorawan(room: RoomConfig) -> bool:
    return isinstance(room.co2, Topic) and room.co2.shape in ("ttn", "chirpstack")


def _service_warnings(config: ServiceConfig) -> Iterator[str]:
    mqtt = config.mqtt
    if mqtt is not None and mqtt.password is not None and not mqtt.tls and not is_loopback(mqtt.host):
        yield f"the MQTT password is sent to {mqtt.host} unencrypted: set mqtt.tls = true"
    if not is_loopback(config.host) and config.ingress is None:
        yield f"listens on {config.host} without TLS: put a reverse proxy with TLS in front"
    if config.origin is not None:
        yield from _readable_secrets(config.origin)
        yield from _unused_variables(config.origin)


def _readable_secrets(origin: Origin) -> Iterator[str]:
    """Yield warnings about files with passwords that all users of the machine can read."""
    values: Any = tomllib.loads(origin.text())
    mqtt, store = values.get("mqtt", {}), values.get("service", {}).get("store", "")
    if ("password" in mqtt or password_in_url(store)) and _is_world_readable(origin.path):
        yield f"{origin.path} contains a password and is world-readable: chmod 640"
    if "password_file" in mqtt and _is_world_readable(path := origin.path.parent / mqtt["password_file"]):
        yield f"{path} contains a password and is world-readable: chmod 600"


def _unused_variables(origin: Origin) -> Iterator[str]:
    for name in sorted(origin.environ):
        if name not in VARIABLES and name not in _OTHER_VARIABLES:
            yield f"{name} is set but is not a setting of the service"


def _is_world_readable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IROTH)
    except OSError:
        return False


def _start_mistakes(config: ServiceConfig) -> Mistakes:
    if config.origin is None:
        return Mistakes(Path("settings"), "")
    overrides = {VARIABLES[name]: name for name in config.origin.environ if name in VARIABLES}
    return Mistakes(config.origin.path, config.origin.text(), overrides)
