"""What devices send by MQTT as a number and a time, in the shapes they send it in.

Anything may come on a topic. What is no reading is an ``InputError`` of one line, and nothing else ever.
Whether a number can be true is not decided here: 0 ppm is read as 0.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from occupair.errors import InputError
from occupair.live.mqtt.payload_paths import NOTHING, find
from occupair.live.mqtt.payload_times import parse_device_time
from occupair.wording import quoted

if TYPE_CHECKING:
    from occupair.live.config import Topic, VentilationTopic

_Object = Mapping[str, object]
MOST_BYTES = 65_536
"""More is no reading: those have some hundred."""
LARGEST = 1e6
"""No number is larger: pure CO2 has this many ppm."""
_LONGEST_NUMBER = 64  # characters
_NUMBER = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?) ?(ppm|%)?", re.ASCII | re.IGNORECASE)
_ON = {"on", "true", "open", "opened", "yes"}
_OFF = {"off", "false", "closed", "close", "no"}
_CO2_KEYS = ("co2", "CO2", "carbon_dioxide")
_VENTILATION_KEYS = ("ventilation", "fan_state", "FanSpeed", "Dimmer", "position", "state", "POWER", "POWER1")
_TASMOTA = "CarbonDioxide"
_TIME_KEYS: dict[str, tuple[str, ...]] = {
    "zigbee2mqtt": ("last_seen",),
    "tasmota": ("Epoch", "Time"),
    "json": (),
}


class SaysNothing(InputError):
    """A message without the value, or with null in its place: perhaps it is about something else."""


class Parsed(NamedTuple):
    """A number, and when it was measured, in UTC; None if the payload does not say."""

    value: float
    time: dt.datetime | None


def parse_payload(
    topic: Topic, payload: bytes, received: dt.datetime, timezone: str
) -> tuple[float, dt.datetime]:
    """Read CO2 [ppm] and its time; where the payload has none, when it was received.

    Parameters
    ----------
    topic : Topic
        On which it came, and the shape it should have.
    payload : bytes
        Whatever came.
    received : datetime
        When, aware of its zone.
    timezone : str
        Of times that do not say theirs.

    Examples
    --------
    >>> from occupair.live.config import Topic
    >>> now = dt.datetime(2024, 1, 8, 7, 0, 2, tzinfo=dt.UTC)
    >>> parse_payload(Topic(topic="lab/co2"), b"812", now, "Europe/Copenhagen")
    (812.0, datetime.datetime(2024, 1, 8, 7, 0, 2, tzinfo=datetime.timezone.utc))
    >>> tasmota = b'{"Time":"2024-01-08T08:00:00","MHZ19B":{"CarbonDioxide":589}}'
    >>> parse_payload(Topic(topic="tele/lab/SENSOR"), tasmota, now, "Europe/Copenhagen")
    (589.0, datetime.datetime(2024, 1, 8, 7, 0, tzinfo=datetime.timezone.utc))
    """
    parsed = parse_co2(topic, payload, received, timezone)
    return parsed.value, parsed.time or received


def parse_co2(topic: Topic, payload: bytes, received: dt.datetime, timezone: str) -> Parsed:
    """Read CO2 [ppm], and its time if the payload has one; see ``parse_payload``."""
    try:
        content = _content(topic, payload)
        value = _co2_number(_value_in(topic, content, _co2_in))
        return Parsed(value, _time_in(topic, content, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def parse_ventilation(
    topic: VentilationTopic, payload: bytes, received: dt.datetime, timezone: str
) -> Parsed:
    """Read ventilation [0..1], and its time if the payload has one.

    A number is a part of ``topic.full``, and per cent are per cent; on, true and open are 1; off, false and
    closed are 0. That it lies between 0 and 1 is not checked here.

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
        content = _content(topic, payload)
        value = _ventilation_number(_value_in(topic, content, _ventilation_in), topic.full)
        return Parsed(value, _time_in(topic, content, received, timezone))
    except InputError as error:
        raise type(error)(f"{topic.topic}: {error}") from None


def _content(topic: Topic, payload: bytes) -> object:
    """Give what was sent: parsed JSON, or its text where that is no object."""
    if len(payload) > MOST_BYTES:
        raise InputError(f"must be {MOST_BYTES} bytes or less, got {len(payload)}")
    try:
        text = payload.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InputError(f"must be UTF-8 text, got {quoted(payload[:60])}") from None
    if not text:
        raise InputError("must have a value, got nothing")
    if topic.shape in ("zigbee2mqtt", "tasmota", "json") or text[0] in "{[":
        return _json(text)
    return text


def _json(text: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, InputError) else f"must be JSON, got {quoted(text[:60])}"
        raise InputError(why) from None


def _refuse_constant(name: str) -> float:
    raise InputError(f"must have finite numbers, got {name}")


def _value_in(topic: Topic, content: object, search: Callable[[Topic, _Object], object]) -> object:
    """Find a value: by its path, as the whole payload, or in an object by the names devices give it."""
    if topic.path is not None and not isinstance(content, str):
        return _at(content, topic.path)
    content = _unwrapped(content)
    if topic.shape == "number" or not isinstance(content, Mapping):
        return content
    return search(topic, content)


def _co2_in(topic: Topic, content: _Object) -> object:
    if topic.shape != "tasmota" and (found := _first_of(content, _CO2_KEYS)) is not NOTHING:
        return found
    if topic.shape in ("auto", "tasmota"):
        return _tasmota_co2(content)
    raise _missing("co2", content)


def _tasmota_co2(content: _Object) -> object:
    """Find CO2 by the name it has in every Tasmota sensor; their eCO2 is another thing."""
    sensors = [name for name, told in content.items() if isinstance(told, Mapping) and _TASMOTA in told]
    if len(sensors) > 1:
        raise InputError(f"has CO2 of {len(sensors)} sensors, {quoted(sensors)}: say which by a path")
    if not sensors:
        raise _missing(_TASMOTA if "Time" in content else "co2", content)
    return find(content, (sensors[0], _TASMOTA))


def _ventilation_in(topic: Topic, content: _Object) -> object:
    if (found := _first_of(content, _VENTILATION_KEYS)) is not NOTHING:
        return found
    raise _missing("ventilation", content)


def _unwrapped(content: object) -> object:
    """Take a Tasmota status, asked for by hand, for what it holds."""
    inner = content.get("StatusSNS") if isinstance(content, Mapping) else None
    return inner if isinstance(inner, Mapping) else content


def _first_of(content: _Object, keys: tuple[str, ...]) -> object:
    return next((content[key] for key in keys if key in content), NOTHING)


def _at(content: object, path: str) -> object:
    if (found := find(content, path)) is NOTHING:
        raise _missing(path, content)
    return found


def _missing(what: str, content: object) -> InputError:
    has = f"only {quoted(list(content)[:8])}" if isinstance(content, Mapping) else f"got {_told(content)}"
    return SaysNothing(f"has no {what}, {has}")


def _told(value: object) -> str:
    """Show a value; lists and objects may be too deep to be shown."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    return quoted(value[:100] if isinstance(value, str) else value)


def _co2_number(value: object) -> float:
    number, unit = _number(value)
    if unit == "%":
        raise InputError(f"must be in ppm, got {_told(value)}")
    return number


def _ventilation_number(value: object, full: float) -> float:
    if isinstance(value, bool):
        return float(value)
    word = value.strip().lower() if isinstance(value, str) and len(value) < _LONGEST_NUMBER else ""
    if word in _ON or word in _OFF:
        return float(word in _ON)
    number, unit = _number(value)
    if unit == "ppm":
        raise InputError(f"must be a part of {full:g} or %, got {_told(value)}")
    return number / (100.0 if unit == "%" and full == 1.0 else full)


def _number(value: object) -> tuple[float, str]:
    """Give a number and its unit; devices put numbers into JSON as text, too."""
    unit = ""
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value.strip()) if len(value) <= _LONGEST_NUMBER else None
        if match is None:
            raise InputError(f"must be a number, got {_told(value)}")
        value, unit = float(match[1]), (match[2] or "").lower()
    if value is None:
        raise SaysNothing("must be a number, got None")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"must be a number, got {_told(value)}")
    if not -LARGEST <= value <= LARGEST:
        raise InputError(f"must be a number up to {LARGEST:.0f}, got {_told(value)}")
    return float(value), unit


def _time_in(topic: Topic, content: object, received: dt.datetime, timezone: str) -> dt.datetime | None:
    """Give when it was measured; None if that is not said, or a clock was never set."""
    name, told = _told_time(topic, content)
    if told is NOTHING or told is None:
        return None
    try:
        return parse_device_time(told, timezone=timezone, near=received)
    except InputError as error:
        raise InputError(f"{name} {error}") from None


def _told_time(topic: Topic, content: object) -> tuple[str, object]:
    if topic.time_path is not None and not isinstance(content, str):
        return topic.time_path, find(content, topic.time_path)
    content = _unwrapped(content)
    if not isinstance(content, Mapping):
        return "", None
    keys = _TIME_KEYS.get(topic.shape, ("last_seen", "Epoch", "Time"))
    name = next((key for key in keys if content.get(key) is not None), "")
    return name, content.get(name)
