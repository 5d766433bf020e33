"""Payloads of devices: CO2, ventilation or an optional sensor, and the time of the reading.

To support a new payload format, add an entry to `FORMATS` and its name to ``FormatName`` in
`occupair.live.config.settings`; nothing else depends on the format.

Any bytes may arrive on a topic. A payload that is not a reading raises `InputError` with a one-line message,
and never any other exception. Plausibility is checked later, in the rooms: 0 ppm is returned as 0.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from occupair.errors import InputError
from occupair.live.config.values import parse_path
from occupair.live.mqtt.device_times import parse_device_time
from occupair.readings.other_sensors import SENSORS
from occupair.readings.value_rules import VALUE_RULES
from occupair.readings.ventilation_scale import without_noise
from occupair.readings.ventilation_units import OFF, ON
from occupair.wording import quoted

if TYPE_CHECKING:
    from occupair.live.config import Topic, VentilationTopic

MAX_BYTES = 65_536
"""Largest payload that is parsed; readings have a few hundred bytes."""
MAX_VALUE = VALUE_RULES["co2"].high
"""Largest number that is accepted."""
_MAX_NUMBER_LENGTH = 64  # characters
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?) ?(ppm|%)?", re.ASCII | re.IGNORECASE)
_CO2_KEYS = ("co2", "CO2", "carbon_dioxide")
_VENTILATION_KEYS = ("ventilation", "fan_state", "FanSpeed", "Dimmer", "position", "state", "POWER", "POWER1")
_SENSOR_KEYS = {
    "temperature": ("temperature", "Temperature"),
    "humidity": ("humidity", "Humidity"),
    "sound": ("sound", "noise", "sound_level", "Noise"),
    "light": ("light", "illuminance", "illuminance_lux", "Illuminance"),
    "wifi": ("wifi", "clients"),
    "power": ("power", "Power"),
    "motion": ("motion", "occupancy", "presence", "PIR"),
}
_TASMOTA_CO2 = "CarbonDioxide"
_MISSING = object()  # None is JSON null

_Object = Mapping[str, object]


class ValueMissing(InputError):
    """The payload does not contain the value, or null: the message may be about something else."""


class Measurement(NamedTuple):
    """A value, and its time in UTC, or None if the payload has no time."""

    value: float
    time: dt.datetime | None


def _find_co2_key(content: _Object) -> object:
    return next((content[key] for key in _CO2_KEYS if key in content), _MISSING)


def _find_tasmota_co2(content: _Object) -> object:
    """Return the CO2 of the only Tasmota sensor that has it; equivalent CO2 (eCO2) is not CO2."""
    sensors = {
        name: sensor
        for name, sensor in content.items()
        if isinstance(sensor, Mapping) and _TASMOTA_CO2 in sensor
    }
    if len(sensors) > 1:
        names = quoted(list(sensors))
        raise InputError(f"has CO2 of {len(sensors)} sensors, {names}: select one with a path")
    return next((sensor[_TASMOTA_CO2] for sensor in sensors.values()), _MISSING)


class Format(NamedTuple):
    """A payload format.

    Parameters
    ----------
    is_json : bool
        Whether the payload must be JSON. Otherwise it may also be a plain value.
    find_co2 : tuple of callable
        Functions that return CO2 in a JSON object, or ``_MISSING``; the first that finds it counts.
    time_keys : tuple of str
        Keys that may hold the time of the reading, in order of preference.
    """

    is_json: bool
    find_co2: tuple[Callable[[_Object], object], ...]
    time_keys: tuple[str, ...]


FORMATS: dict[str, Format] = {
    "auto": Format(False, (_find_co2_key, _find_tasmota_co2), ("last_seen", "Epoch", "Time")),
    "number": Format(False, (), ("last_seen", "Epoch", "Time")),
    "zigbee2mqtt": Format(True, (_find_co2_key,), ("last_seen",)),
    "tasmota": Format(True, (_find_tasmota_co2,), ("Epoch", "Time")),
    "json": Format(True, (_find_co2_key,), ()),  # by the path and time_path of the topic
}
"""The payload formats, by the ``shape`` of a topic."""


def parse_co2(topic: Topic, payload: bytes, received: dt.datetime, timezone: str) -> Measurement:
    """Parse CO2 [ppm], and its time if the payload has one.

    Parameters
    ----------
    topic : Topic
        Topic on which the payload arrived, with its format.
    payload : bytes
        Any bytes.
    received : datetime
        Time of arrival, with a time zone.
    timezone : str
        Time zone of times without an offset.

    Examples
    --------
    >>> from occupair.live.config import Topic
    >>> now = dt.datetime(2024, 1, 8, 7, 0, 2, tzinfo=dt.UTC)
    >>> parse_co2(Topic(topic="lab/co2"), b"812", now, "Europe/Copenhagen")
    Measurement(value=812.0, time=None)
    >>> tasmota = b'{"Time":"2024-01-08T08:00:00","MHZ19B":{"CarbonDioxide":589}}'
    >>> parse_co2(Topic(topic="tele/lab/SENSOR"), tasmota, now, "Europe/Copenhagen").value
    589.0
    """
    try:
        content = _parse_content(topic, payload)
        value = _parse_ppm(_find_value(topic, content, _find_co2))
        return Measurement(value, _find_time(topic, content, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def parse_ventilation(
    topic: VentilationTopic, payload: bytes, received: dt.datetime, timezone: str
) -> Measurement:
    """Parse ventilation [0..1], and its time if the payload has one; parameters as for `parse_co2`.

    A number is a fraction of ``topic.full``, or a percentage if it has a % sign. On, true and open are 1;
    off, false and closed are 0. As in files, noise around off and full is removed; otherwise the range [0, 1]
    is not checked here.

    Examples
    --------
    >>> from occupair.live.config import VentilationTopic
    >>> now = dt.datetime(2024, 1, 8, 7, 0, 2, tzinfo=dt.UTC)
    >>> parse_ventilation(VentilationTopic(topic="lab/fan", full=255), b"51", now, "UTC").value
    0.2
    >>> parse_ventilation(VentilationTopic(topic="lab/fan"), b"ON", now, "UTC").value
    1.0
    """
    try:
        content = _parse_content(topic, payload)
        value = _parse_fraction(_find_value(topic, content, _find_ventilation), topic.full)
        return Measurement(value, _find_time(topic, content, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def parse_sensor(
    name: str, topic: Topic, payload: bytes, received: dt.datetime, timezone: str
) -> Measurement:
    """Parse the value of an optional sensor, and its time if the payload has one.

    ``name`` is one of ``occupair.readings.other_sensors.SENSORS``; other parameters as for `parse_co2`.
    Motion may be on or off, true or false.

    Examples
    --------
    >>> from occupair.live.config import Topic
    >>> now = dt.datetime(2024, 1, 8, 7, 0, 2, tzinfo=dt.UTC)
    >>> device = b'{"co2": 589, "humidity": 41.5, "occupancy": true}'
    >>> [parse_sensor(name, Topic(topic="lab"), device, now, "UTC").value for name in ("humidity", "motion")]
    [41.5, 1.0]
    """
    try:
        content = _parse_content(topic, payload)
        found = _find_value(topic, content, partial(_find_sensor, name))
        value = _parse_fraction(found, 1.0) if name == "motion" else _parse_number(found)[0]
        if name == "temperature" and _is_fahrenheit(content):
            value = (value - 32.0) / 1.8
        if not SENSORS[name].allows(value):
            raise InputError(f"{name} {SENSORS[name].text}, got {value:g}")
        return Measurement(value, _find_time(topic, content, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def _is_fahrenheit(content: object) -> bool:
    """Whether a Tasmota device reports temperatures in °F."""
    content = _unwrap_status(content)
    return isinstance(content, Mapping) and content.get("TempUnit") == "F"


def _find_sensor(name: str, topic: Topic, content: _Object) -> object:
    """Return the value of an optional sensor, in the object or in the only object in it that has one."""
    for table in (content, *(inner for inner in content.values() if isinstance(inner, Mapping))):
        for key in _SENSOR_KEYS[name]:
            if key in table and not isinstance(table[key], Mapping):
                return table[key]
    raise _missing(name, content)


def _parse_content(topic: Topic, payload: bytes) -> object:
    """Return the payload as parsed JSON, or as text if it is a plain value."""
    if len(payload) > MAX_BYTES:
        raise InputError(f"must be at most {MAX_BYTES} bytes, got {len(payload)}")
    try:
        text = payload.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError(f"must be UTF-8 text, got {quoted(payload[:60])}") from None
    if not text:
        raise InputError("must not be empty")
    return _parse_json(text) if FORMATS[topic.shape].is_json or text[0] in "{[" else text


def _parse_json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(f"must be JSON, got {quoted(text[:60])}") from None


def _refuse_constant(name: str) -> float:
    raise InputError(f"must contain finite numbers only, got {name}")


def _find_value(topic: Topic, content: object, search: Callable[[Topic, _Object], object]) -> object:
    """Return the value at the path of the topic, the whole payload, or what a search in the object finds."""
    if topic.path is not None and not isinstance(content, str):
        if (found := find_path(content, topic.path)) is _MISSING:
            raise _missing(topic.path, content)
        return found
    content = _unwrap_status(content)
    if topic.shape == "number" or not isinstance(content, Mapping):
        return content
    return search(topic, content)


def _find_co2(topic: Topic, content: _Object) -> object:
    searches = FORMATS[topic.shape].find_co2
    for search in searches:
        if (found := search(content)) is not _MISSING:
            return found
    is_tasmota = _find_tasmota_co2 in searches and "Time" in content
    raise _missing(_TASMOTA_CO2 if is_tasmota else "co2", content)


def _find_ventilation(topic: Topic, content: _Object) -> object:
    for key in _VENTILATION_KEYS:
        if key in content:
            return content[key]
    raise _missing("ventilation", content)


def _unwrap_status(content: object) -> object:
    """Return the sensors of a Tasmota status reply, which has them in ``StatusSNS``."""
    inner = content.get("StatusSNS") if isinstance(content, Mapping) else None
    return inner if isinstance(inner, Mapping) else content


def _missing(name: str, content: object) -> ValueMissing:
    has = f"only {quoted(list(content)[:8])}" if isinstance(content, Mapping) else f"got {_show(content)}"
    return ValueMissing(f"has no {name}, {has}")


def _show(value: object) -> str:
    """Format a value for an error message; lists and objects may be nested too deeply to be formatted."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    return quoted(value[:100] if isinstance(value, str) else value)


def _parse_ppm(value: object) -> float:
    number, unit = _parse_number(value)
    if unit == "%":
        raise InputError(f"must be in ppm, got {_show(value)}")
    return number


def _parse_fraction(value: object, full: float) -> float:
    if isinstance(value, bool):
        return float(value)
    switch = value.strip().lower() if isinstance(value, str) and len(value) < _MAX_NUMBER_LENGTH else ""
    if re.fullmatch(ON, switch) or re.fullmatch(OFF, switch):
        return float(re.fullmatch(ON, switch) is not None)
    number, unit = _parse_number(value)
    if unit == "ppm":
        raise InputError(f"must be a fraction of {full:g} or a percentage, got {_show(value)}")
    return without_noise(number / (100.0 if unit == "%" and full == 1.0 else full))


def _parse_number(value: object) -> tuple[float, str]:
    """Return a number and its unit; some devices send numbers as JSON strings."""
    unit = ""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip()) if len(value) <= _MAX_NUMBER_LENGTH else None
        if match is None:
            raise InputError(f"must be a number, got {_show(value)}")
        value, unit = float(match[1]), (match[2] or "").lower()
    if value is None:
        raise ValueMissing("must be a number, got null")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"must be a number, got {_show(value)}")
    if not -MAX_VALUE <= value <= MAX_VALUE:
        raise InputError(f"must be a number up to {MAX_VALUE:.0f}, got {_show(value)}")
    return float(value), unit


def _find_time(topic: Topic, content: object, received: dt.datetime, timezone: str) -> dt.datetime | None:
    """Return the time of the reading, or None if the payload has none or the device clock was never set."""
    if topic.time_path is not None and not isinstance(content, str):
        name, value = topic.time_path, find_path(content, topic.time_path)
    else:
        content = _unwrap_status(content)
        table = content if isinstance(content, Mapping) else {}
        keys = FORMATS[topic.shape].time_keys
        name = next((key for key in keys if table.get(key) is not None), "")
        value = table.get(name) if name else None
    if value is _MISSING or value is None:
        return None
    try:
        return parse_device_time(value, timezone=timezone, received=received)
    except InputError as error:
        raise InputError(f"{name} {error}") from None


def find_path(content: object, path: str) -> object:
    """Return the value at a path of parsed JSON, or ``_MISSING``.

    Examples
    --------
    >>> find_path({"sensors": [{"co2": 812}]}, "sensors[0].co2")
    812
    """
    for step in parse_path(path):
        if isinstance(step, int):
            inside = isinstance(content, list) and -len(content) <= step < len(content)
            content = content[step] if isinstance(content, list) and inside else _MISSING
        else:
            content = content.get(step, _MISSING) if isinstance(content, Mapping) else _MISSING
    return content
