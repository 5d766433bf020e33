"""Payload formats of devices: where each of them has CO2, other quantities and the time.

LoRaWAN network servers wrap the values of a device in an envelope, `unwrap` of their formats removes it:

- The Things Stack v3: ``uplink_message`` with ``normalized_payload`` (schema ``lib/payload.json`` of the
  Device Repository), ``decoded_payload`` and ``received_at``.
- ChirpStack v4: ``object`` (result of the codec) and ``time``, beside ``deviceInfo``.

To support a new payload format, add an entry to `FORMATS` and its name to ``FormatName`` in
`occupair.live.config.room_settings`; nothing else depends on the format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from occupair.errors import InputError
from occupair.live.config.values import parse_path
from occupair.wording import quoted

MISSING = object()
"""In place of a value that is not there; None is JSON null."""
CO2_KEYS = ("co2", "CO2", "carbon_dioxide")
VENTILATION_KEYS = ("ventilation", "fan_state", "FanSpeed", "Dimmer", "position", "state", "POWER", "POWER1")
SENSOR_KEYS = {
    "temperature": ("temperature", "Temperature"),
    "humidity": ("humidity", "Humidity"),
    "sound": ("sound", "noise", "sound_level", "Noise"),
    "light": ("light", "illuminance", "illuminance_lux", "Illuminance"),
    "wifi": ("wifi", "clients"),
    "power": ("power", "Power"),
    "motion": ("motion", "occupancy", "presence", "PIR"),
}
_TASMOTA_CO2 = "CarbonDioxide"
_NORMALIZED = {
    "co2": "air.co2",
    "temperature": "air.temperature",
    "humidity": "air.relativeHumidity",
    "light": "air.lightIntensity",
    "motion": "action.motion.detected",
}
_MEASURED_AT = "normalized_payload[].time"  # of The Things Stack, besides received_at

Object = Mapping[str, object]


class ValueMissing(InputError):
    """The payload does not contain the value, or null: the message may be about something else."""


def _find_co2_key(content: Object) -> object:
    return next((content[key] for key in CO2_KEYS if key in content), MISSING)


def _find_tasmota_co2(content: Object) -> object:
    """Return the CO2 of the only Tasmota sensor that has it; equivalent CO2 (eCO2) is not CO2."""
    sensors = {
        name: sensor
        for name, sensor in content.items()
        if isinstance(sensor, Mapping) and _TASMOTA_CO2 in sensor
    }
    if len(sensors) > 1:
        names = quoted(list(sensors))
        raise InputError(f"has CO2 of {len(sensors)} sensors, {names}: select one with a path")
    return next((sensor[_TASMOTA_CO2] for sensor in sensors.values()), MISSING)


def _unwrap_status(content: Object) -> Object:
    """Return the sensors of a Tasmota status reply, which has them in ``StatusSNS``."""
    inner = content.get("StatusSNS")
    return inner if isinstance(inner, Mapping) else content


def _unwrap_ttn(content: Object) -> Object:
    """Return the values of an uplink of The Things Stack; normalized ones replace those of the decoder."""
    uplink = content.get("uplink_message")
    if not isinstance(uplink, Mapping):  # such as join_accept or downlink_ack
        raise missing("uplink_message", content)
    if content.get("simulated") is True:
        raise ValueMissing("is simulated in The Things Stack")
    decoded, measured = uplink.get("decoded_payload"), _normalized(uplink.get("normalized_payload"))
    if not isinstance(decoded, Mapping) and not isinstance(measured, Mapping):
        raise ValueMissing("has no decoded_payload: add a payload formatter in The Things Stack")
    values = dict(decoded) if isinstance(decoded, Mapping) else {}
    values |= {
        key: found
        for key, path in _NORMALIZED.items()
        if (found := find_path(measured, path)) not in (MISSING, None)
    }
    measured_at = find_path(measured, "time")
    times = {_MEASURED_AT: None if measured_at is MISSING else measured_at}
    return values | times | {"received_at": uplink.get("received_at")}


def _normalized(entries: object) -> object:
    """Return the first of several measurements in one uplink that has CO2, or the first of all."""
    found = entries if isinstance(entries, list) else []
    with_co2 = (one for one in found if find_path(one, _NORMALIZED["co2"]) not in (MISSING, None))
    return next(with_co2, found[0] if found else MISSING)


def _unwrap_chirpstack(content: Object) -> Object:
    """Return the values of an uplink of ChirpStack, as its codec decoded them."""
    values = content.get("object")
    if not isinstance(values, Mapping):  # no codec, or another event, such as join, ack or status
        if "data" in content:
            raise ValueMissing("has no object: add a codec to the device profile in ChirpStack")
        raise missing("object", content)
    return {**values, "time": content.get("time")}


class Format(NamedTuple):
    """A payload format.

    Parameters
    ----------
    is_json : bool
        Whether the payload must be JSON. Otherwise it may also be a plain value.
    find_co2 : tuple of callable
        Functions that return CO2 in a JSON object, or ``MISSING``; the first that finds it counts.
    time_keys : tuple of str
        Keys that may hold the time of the reading, in order of preference; an invalid time counts only if
        no later key has a valid one.
    unwrap : callable
        Returns the object with all values and the time, given the JSON object of the payload.
    """

    is_json: bool
    find_co2: tuple[Callable[[Object], object], ...]
    time_keys: tuple[str, ...]
    unwrap: Callable[[Object], Object] = _unwrap_status


FORMATS: dict[str, Format] = {
    "auto": Format(False, (_find_co2_key, _find_tasmota_co2), ("last_seen", "Epoch", "Time")),
    "number": Format(False, (), ("last_seen", "Epoch", "Time")),
    "zigbee2mqtt": Format(True, (_find_co2_key,), ("last_seen",)),
    "tasmota": Format(True, (_find_tasmota_co2,), ("Epoch", "Time")),
    "ttn": Format(True, (_find_co2_key,), (_MEASURED_AT, "received_at"), _unwrap_ttn),
    "chirpstack": Format(True, (_find_co2_key,), ("time",), _unwrap_chirpstack),
    "json": Format(True, (_find_co2_key,), ()),  # by the path and time_path of the topic
}
"""The payload formats, by the ``shape`` of a topic."""

_RECOGNISED = {"end_device_ids": "ttn", "deviceInfo": "chirpstack"}  # objects in all of their messages


def format_of(shape: str, content: object) -> Format:
    """Return the format of a payload with a shape; ``"auto"`` recognises LoRaWAN network servers.

    Examples
    --------
    >>> format_of("auto", {"deviceInfo": {"devEui": "0101010101010101"}}) is FORMATS["chirpstack"]
    True
    """
    if shape == "auto" and isinstance(content, Mapping):
        for key, name in _RECOGNISED.items():
            if isinstance(content.get(key), Mapping):
                return FORMATS[name]
    return FORMATS[shape]


def find_co2(format_: Format, content: Object) -> object:
    """Return CO2 in an unwrapped object."""
    for search in format_.find_co2:
        if (found := search(content)) is not MISSING:
            return found
    is_tasmota = _find_tasmota_co2 in format_.find_co2 and "Time" in content
    raise missing(_TASMOTA_CO2 if is_tasmota else "co2", content)


def find_ventilation(format_: Format, content: Object) -> object:
    """Return ventilation in an unwrapped object."""
    for key in VENTILATION_KEYS:
        if key in content:
            return content[key]
    raise missing("ventilation", content)


def find_sensor(name: str, format_: Format, content: Object) -> object:
    """Return the value of an optional sensor, in the object or in the only object in it that has one."""
    for table in (content, *(inner for inner in content.values() if isinstance(inner, Mapping))):
        for key in SENSOR_KEYS[name]:
            if key in table and not isinstance(table[key], Mapping):
                return table[key]
    raise missing(name, content)


def is_fahrenheit(content: object) -> bool:
    """Whether an unwrapped object is of a Tasmota device that reports temperatures in °F."""
    return isinstance(content, Mapping) and content.get("TempUnit") == "F"


def find_path(content: object, path: str) -> object:
    """Return the value at a path of parsed JSON, or ``MISSING``.

    Examples
    --------
    >>> find_path({"sensors": [{"co2": 812}]}, "sensors[0].co2")
    812
    """
    for step in parse_path(path):
        if isinstance(step, int):
            inside = isinstance(content, list) and -len(content) <= step < len(content)
            content = content[step] if isinstance(content, list) and inside else MISSING
        else:
            content = content.get(step, MISSING) if isinstance(content, Mapping) else MISSING
    return content


def missing(name: str, content: object) -> ValueMissing:
    """Return the error for a value that the payload does not have."""
    has = f"only {quoted(list(content)[:8])}" if isinstance(content, Mapping) else f"got {show(content)}"
    return ValueMissing(f"has no {name}, {has}")


def show(value: object) -> str:
    """Format a value for an error message; lists and objects may be nested too deeply to be formatted."""
    if isinstance(value, Mapping | list):
        return "an object" if isinstance(value, Mapping) else "a list"
    return quoted(value[:100] if isinstance(value, str) else value)
