"""Types of single settings: strings, hosts, topics, JSON paths, time zones, file paths, database URLs.

Each type is ``Annotated`` with its checks for pydantic, which raise ``ValueError`` with the rule that a value
breaks. Relative paths are resolved against ``folder`` of the validation context, if there is one.
"""

from __future__ import annotations

import ipaddress
import re
import zoneinfo
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo

from occupair.control.outdoor_air import check_damper_curve
from occupair.errors import InputError
from occupair.live.room_shards import Shard, parse_shard
from occupair.physics.room_properties import ACTIVITIES
from occupair.room.closed_hours import parse_closed
from occupair.ventilation_rates import ASHRAE_SPACES

ID_PATTERN = r"[a-z0-9_-]{1,64}"
"""Ids of rooms and names of tokens."""
MAX_INSTANCE = 4_194_302
"""Largest instance number of a BACnet device or object (ASHRAE 135)."""
OBJECT_TYPES = {
    "analog-input": ("AI", 0),
    "analog-output": ("AO", 1),
    "analog-value": ("AV", 2),
    "binary-input": ("BI", 3),
    "binary-output": ("BO", 4),
    "binary-value": ("BV", 5),
    "loop": ("", 12),
    "multi-state-input": ("MSI", 13),
    "multi-state-output": ("MSO", 14),
    "multi-state-value": ("MSV", 19),
    "accumulator": ("ACC", 23),
    "pulse-converter": ("PC", 24),
    "integer-value": ("", 45),
    "large-analog-value": ("LAV", 46),
    "positive-integer-value": ("PIV", 48),
}
"""BACnet objects with a number or a state: code in Haystack, as in AI12, and type number (ASHRAE 135)."""
_MAX_TOPIC_BYTES = 65_535  # MQTT standard
_PATH_KEY, _PATH_INDEX = r"[^.\[\]]+", r"\[-?\d{1,9}\]"
_PATH = re.compile(rf"(?:{_PATH_KEY}|{_PATH_INDEX})(?:\.{_PATH_KEY}|{_PATH_INDEX})*")
_STORE_SCHEMES = ("sqlite:///", "postgresql://", "postgres://", "postgresql+psycopg://")


def check_store_url(url: str) -> str:
    """Return a database URL unchanged, or raise ``ValueError`` if the store cannot use it."""
    if not url.startswith(_STORE_SCHEMES) or url in _STORE_SCHEMES or ":memory:" in url:
        raise ValueError("must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
    return url


@lru_cache(maxsize=4096)
def parse_path(text: str) -> tuple[str | int, ...]:
    """Parse the path of a value in JSON: keys separated by dots, list indices in brackets.

    Examples
    --------
    >>> parse_path("sensors[0].co2.value")
    ('sensors', 0, 'co2', 'value')
    """
    if not _PATH.fullmatch(text):
        raise ValueError("must be keys separated by dots and list indices in brackets, as in sensors[0].co2")
    steps = re.findall(rf"{_PATH_KEY}|{_PATH_INDEX}", text)
    return tuple(int(step[1:-1]) if step[0] == "[" else step for step in steps)


def _check_path(text: str) -> str:
    parse_path(text)
    return text


def _rule(is_met: Callable[[str], object], rule: str) -> AfterValidator:
    def check(value: str) -> str:
        if not is_met(value):
            raise ValueError(rule)
        return value

    return AfterValidator(check)


def _check_string(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    if not value.strip() or "\0" in value:
        raise ValueError("must not be empty or contain NUL characters")
    return value


def _is_host(name: str) -> bool:
    if ":" in name:
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
    return re.search(r"[\s/@]", name) is None


@cache
def _is_timezone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return False
    return True


def _folder(info: ValidationInfo) -> Path:
    return info.context["folder"] if info.context else Path()


def _resolve_path(value: Any, info: ValidationInfo) -> Path:
    return value if isinstance(value, Path) else _folder(info) / _check_string(value)


def _parse_shard(value: Any) -> Any:
    return value if isinstance(value, Shard) else parse_shard(_check_string(value))


def _is_address(text: str) -> bool:
    """Whether a text is ``HOST:PORT``, with an IPv6 address in brackets."""
    host, _, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    is_ipv6 = ":" in bare
    return bool(bare) and is_ipv6 == (bare != host) and _is_host(bare) and _is_number(port, 1, 65_535)


def _resolve_store(url: str, info: ValidationInfo) -> str:
    if not url.startswith("sqlite:///") or not info.context:
        return url
    name, question, query = url.removeprefix("sqlite:///").partition("?")
    return f"sqlite:///{_folder(info) / name}{question}{query}"


def _wrap_secret(value: Any) -> SecretStr:
    return value if isinstance(value, SecretStr) else SecretStr(_check_string(value))


def _read_password_file(value: Any, info: ValidationInfo) -> SecretStr:
    try:
        password = _resolve_path(value, info).read_text("utf-8").rstrip("\r\n")
    except OSError as error:
        raise ValueError(f"must be a readable file ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError("must be a UTF-8 text file") from None
    if not password:
        raise ValueError("must not be an empty file")
    return SecretStr(password)


def _check_activity(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if (is_number and 0 < value <= 1) or (isinstance(value, str) and value in ACTIVITIES):
        return value
    raise ValueError(f"must be one of {', '.join(ACTIVITIES)}, or a number above 0 [m3/h]")


def _check_closed(value: Any) -> Any:
    """Return periods of the day as a tuple; a single one may be a string."""
    periods = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value
    try:
        parse_closed(periods)
    except InputError:
        raise ValueError("must be a period of the day such as '22:00-06:00', or a list of them") from None
    return periods


def _check_curve(value: Any) -> tuple[tuple[float, float], ...]:
    """Return pairs of flow and damper position as tuples."""
    try:
        curve = tuple((float(flow), float(position)) for flow, position in value)
        check_damper_curve(curve)
    except (TypeError, ValueError):  # also an InputError
        raise ValueError(
            "must be two or more pairs of flow [L/s] and position [0..1], both increasing, as in "
            "[[0, 0.1], [150, 1]]"
        ) from None
    return curve


def _is_number(text: str, low: int, high: int) -> bool:
    return text.isascii() and text.isdecimal() and low <= int(text) <= high


def _is_bacnet_address(text: str) -> bool:
    """Whether a text is ``IP``, ``IP:PORT``, or ``NETWORK:STATION`` behind a router."""
    network, _, station = text.partition(":")
    return _is_udp_address(text) or (_is_number(network, 1, 65_534) and _is_number(station, 0, 255))


def _is_udp_address(text: str) -> bool:
    """Whether a text is ``IP`` or ``IP:PORT``."""
    host, colon, port = text.partition(":")
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return not colon or _is_number(port, 1, 65_535)


def _is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_ipv4_interface(text: str) -> bool:
    _, slash, length = text.partition("/")
    try:
        ipaddress.IPv4Interface(text)
    except ValueError:
        return False
    return not slash or _is_number(length, 0, 32)


def _is_own_address(text: str) -> bool:
    """Whether a machine can have an address: not 0.0.0.0, and not that of a network or for broadcasts."""
    own = ipaddress.IPv4Interface(text)
    if own.ip.is_unspecified or own.ip.is_multicast or own.ip.is_reserved:
        return False
    ends = (own.network.network_address, own.network.broadcast_address)
    return own.network.prefixlen >= 31 or own.ip not in ends


def _check_bacnet_object(text: str) -> str:
    kind, _, number = text.partition(",")
    is_kind = re.fullmatch(r"[a-z]+(-[a-z]+)*", kind) is not None
    if not is_kind or not _is_number(number, 0, MAX_INSTANCE):
        raise ValueError("must be a type and an instance number, as in analog-input,12")
    if kind not in OBJECT_TYPES:
        raise ValueError("has an unknown object type, use for example analog-input")
    return text


String = Annotated[str, BeforeValidator(_check_string)]
Id = Annotated[
    str,
    _rule(
        re.compile(ID_PATTERN).fullmatch,
        "must be named with 1 to 64 characters of a-z, 0-9, _ and -",
    ),
]
Host = Annotated[String, _rule(_is_host, "must be a host name or an IP address, without scheme and port")]
IpAddress = Annotated[String, _rule(_is_ip_address, "must be an IP address such as 172.30.32.2")]
Port = Annotated[int, Field(ge=1, le=65_535)]
Address = Annotated[String, _rule(_is_address, "must be HOST:PORT, as in 10.0.2.5:8099")]
ShardNumber = Annotated[Shard, BeforeValidator(_parse_shard)]
TimeZone = Annotated[String, _rule(_is_timezone, "must be an IANA time zone such as Europe/Copenhagen")]
Activity = Annotated[str | float, BeforeValidator(_check_activity)]
ClosedHours = Annotated[tuple[str, ...] | None, BeforeValidator(_check_closed)]
DamperCurve = Annotated[tuple[tuple[float, float], ...], BeforeValidator(_check_curve)]
SpaceType = Annotated[
    String, _rule(ASHRAE_SPACES.__contains__, f"must be one of {', '.join(map(repr, ASHRAE_SPACES))}")
]
TopicName = Annotated[
    String,
    _rule(lambda name: not {*name} & {"+", "#"}, "must be a single topic, without the wildcards + and #"),
    _rule(lambda name: name[0] != "$", "must not start with $, which is reserved for the broker"),
    _rule(
        lambda name: len(name.encode()) <= _MAX_TOPIC_BYTES, f"must be at most {_MAX_TOPIC_BYTES} bytes long"
    ),
]
BacnetAddress = Annotated[
    String,
    _rule(_is_bacnet_address, "must be IP, IP:PORT or NETWORK:STATION, as in 10.0.2.7:47808 or 20:7"),
]
BacnetNetwork = Annotated[
    String,
    _rule(_is_ipv4_interface, "must be an IPv4 address, best with its network, as in 10.0.2.5/24"),
    _rule(_is_own_address, "must be the address of this machine, not of all machines or of a network"),
]
BbmdAddress = Annotated[
    String, _rule(_is_udp_address, "must be IP or IP:PORT, as in 10.0.9.1 or 10.0.9.1:47808")
]
BacnetObject = Annotated[String, AfterValidator(_check_bacnet_object)]
Instance = Annotated[int, Field(ge=0, le=MAX_INSTANCE)]
JsonPath = Annotated[String, AfterValidator(_check_path)]
TopicPrefix = Annotated[
    TopicName, _rule(lambda name: name == name.strip("/"), "must not start or end with /")
]
TokenHash = Annotated[
    String,
    _rule(
        re.compile(r"sha256:[0-9a-f]{64}").fullmatch,
        "must be sha256: and 64 hexadecimal digits, as printed by 'occupair token'",
    ),
]
StoreUrl = Annotated[String, AfterValidator(check_store_url), AfterValidator(_resolve_store)]
FilePath = Annotated[Path, BeforeValidator(_resolve_path)]
Secret = Annotated[SecretStr, BeforeValidator(_wrap_secret)]
SecretFile = Annotated[SecretStr, BeforeValidator(_read_password_file)]
"""The contents of a file that holds a password; the setting is its path."""
