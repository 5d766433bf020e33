"""Payloads of devices: CO2, ventilation or an optional sensor, and the time of the reading.

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
from occupair.live.mqtt.device_times import parse_device_time
from occupair.live.mqtt.formats import (
    FORMATS,
    MISSING,
    Format,
    Object,
    ValueMissing,
    find_co2,
    find_path,
    find_sensor,
    find_ventilation,
    format_of,
    is_fahrenheit,
    missing,
    show,
)
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


class Measurement(NamedTuple):
    """A value, and its time in UTC, or None if the payload has no time."""

    value: float
    time: dt.datetime | None


class _Payload(NamedTuple):
    """A parsed payload and its format."""

    content: object  # parsed JSON, or text if it is a plain value
    values: object  # the unwrapped object with all values, or the content if that is not an object
    format: Format


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
        parsed = _parse(topic, payload)
        value = _parse_ppm(_find_value(topic, parsed, find_co2))
        return Measurement(value, _find_time(topic, parsed, received, timezone))
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
        parsed = _parse(topic, payload)
        value = _parse_fraction(_find_value(topic, parsed, find_ventilation), topic.full)
        return Measurement(value, _find_time(topic, parsed, received, timezone))
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
        parsed = _parse(topic, payload)
        found = _find_value(topic, parsed, partial(find_sensor, name))
        value = _parse_fraction(found, 1.0) if name == "motion" else _parse_number(found)[0]
        if name == "temperature" and is_fahrenheit(parsed.values):
            value = (value - 32.0) / 1.8
        if not SENSORS[name].allows(value):
            raise InputError(f"{name} {SENSORS[name].text}, got {value:g}")
        return Measurement(value, _find_time(topic, parsed, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def _parse(topic: Topic, payload: bytes) -> _Payload:
    content = _parse_content(topic, payload)
    format_ = format_of(topic.shape, content)
    return _Payload(content, format_.unwrap(content) if isinstance(content, Mapping) else content, format_)


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


def _find_value(topic: Topic, parsed: _Payload, search: Callable[[Format, Object], object]) -> object:
    """Return the value at the path of the topic, the whole payload, or what a search in the object finds."""
    if topic.path is not None and not isinstance(parsed.content, str):
        if (found := find_path(parsed.content, topic.path)) is MISSING:
            raise missing(topic.path, parsed.content)
        return found
    if topic.shape == "number" or not isinstance(parsed.values, Mapping):
        return parsed.values
    return search(parsed.format, parsed.values)


def _parse_ppm(value: object) -> float:
    number, unit = _parse_number(value)
    if unit == "%":
        raise InputError(f"must be in ppm, got {show(value)}")
    return number


def _parse_fraction(value: object, full: float) -> float:
    if isinstance(value, bool):
        return float(value)
    switch = value.strip().lower() if isinstance(value, str) and len(value) < _MAX_NUMBER_LENGTH else ""
    if re.fullmatch(ON, switch) or re.fullmatch(OFF, switch):
        return float(re.fullmatch(ON, switch) is not None)
    number, unit = _parse_number(value)
    if unit == "ppm":
        raise InputError(f"must be a fraction of {full:g} or a percentage, got {show(value)}")
    return without_noise(number / (100.0 if unit == "%" and full == 1.0 else full))


def _parse_number(value: object) -> tuple[float, str]:
    """Return a number and its unit; some devices send numbers as JSON strings."""
    unit = ""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip()) if len(value) <= _MAX_NUMBER_LENGTH else None
        if match is None:
            raise InputError(f"must be a number, got {show(value)}")
        value, unit = float(match[1]), (match[2] or "").lower()
    if value is None:
        raise ValueMissing("must be a number, got null")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"must be a number, got {show(value)}")
    if not -MAX_VALUE <= value <= MAX_VALUE:
        raise InputError(f"must be a number up to {MAX_VALUE:.0f}, got {show(value)}")
    return float(value), unit


def _find_time(topic: Topic, parsed: _Payload, received: dt.datetime, timezone: str) -> dt.datetime | None:
    """Return the time of the reading, or None if the payload has none or the device clock was never set."""
    if topic.time_path is not None and not isinstance(parsed.content, str):
        times = {topic.time_path: find_path(parsed.content, topic.time_path)}
    else:
        table = parsed.values if isinstance(parsed.values, Mapping) else {}
        times = {key: table.get(key) for key in parsed.format.time_keys}
    mistake = None
    for name, value in times.items():
        if value is MISSING or value is None:
            continue
        try:
            return parse_device_time(value, timezone=timezone, received=received)
        except InputError as error:
            mistake = mistake or InputError(f"{name} {error}")
    if mistake is not None:
        raise mistake
    return None
