"""Rules for the values of settings: what each must be, in words, and how it is read from text."""

from __future__ import annotations

import ipaddress
import math
import re
import zoneinfo
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import SecretStr

ROOM_ID = re.compile(r"[a-z0-9_-]{1,64}")
_LONGEST_TOPIC = 65_535  # bytes, by the MQTT standard
_STORES = ("sqlite:///", "postgresql://", "postgres://", "postgresql+psycopg://")


class Broken(Exception):
    """A value breaks a rule; the message is the rule, and `hint` what may have been meant."""

    def __init__(self, rule: str, hint: str = "") -> None:
        super().__init__(rule)
        self.hint = hint


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    Parameters
    ----------
    check : callable
        Gives the value as it is used, or raises `Broken` with the rule in words.
    from_text : callable
        Makes of an environment variable's text what a file would have, or leaves the text.
    secret : bool
        Whether the value must never be shown.
    """

    check: Callable[[Any], Any]
    from_text: Callable[[str], Any] = str
    secret: bool = False


def text(value: Any) -> str:
    """Take a text that is not empty."""
    if not isinstance(value, str):
        raise Broken("must be a text")
    if not value.strip() or "\0" in value:
        raise Broken("must be a text that is not empty")
    return value


def flag(value: Any) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise Broken("must be true or false")
    return value


def secret(value: Any) -> SecretStr:
    """Take a text that is never shown."""
    return SecretStr(text(value))


def whole(least: int, most: int) -> Rule:
    """Make the rule of whole numbers from one to another."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Broken(f"must be a whole number from {least} to {most}")
        return value

    return Rule(check, _as_number)


def number(*, above: float, most: float) -> Rule:
    """Make the rule of numbers above one and up to another."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not above < value <= most:
            raise Broken(f"must be a number above {above:g}, at most {most:g}")
        return float(value)

    return Rule(check, _as_number)


def one_of(*words: str) -> Rule:
    """Make the rule of a choice."""

    def check(value: Any) -> str:
        if value not in words or not isinstance(value, str):
            raise Broken(f"must be {' or '.join(map(repr, words))}", _meant(value, words))
        return value

    return Rule(check)


def topic(value: Any) -> str:
    """Take a topic that one device publishes on: no wildcards."""
    name = text(value)
    if "+" in name or "#" in name:
        raise Broken("must be one topic, without the wildcards + and #")
    if name.startswith("$"):
        raise Broken("must not begin with $, which is the broker's own")
    if len(name.encode()) > _LONGEST_TOPIC:
        raise Broken(f"must be at most {_LONGEST_TOPIC} bytes")
    return name


def prefix(value: Any) -> str:
    """Take the first levels of topics."""
    name = topic(value)
    if name.startswith("/") or name.endswith("/"):
        raise Broken("must not begin or end with /")
    return name


def timezone(value: Any) -> str:
    """Take the name of a time zone that this machine knows."""
    name = text(value)
    if not _is_zone(name):
        known = sorted(zoneinfo.available_timezones())
        raise Broken("must be a time zone, e.g. Europe/Copenhagen", _meant(name, known))
    return name


def host(value: Any) -> str:
    """Take a name or an address to listen on or connect to."""
    name = text(value)
    if re.search(r"[\s/@]", name) or (":" in name and not _is_address(name)):
        raise Broken("must be a host name or an address, without scheme and port")
    return name


def token_hash(value: Any) -> str:
    """Take the hash of a token."""
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", text(value)):
        raise Broken("must be sha256: and 64 hexadecimal digits, as 'occupair token' prints")
    return str(value)


def store(value: Any) -> str:
    """Take the URL of a database."""
    url = text(value)
    if not url.startswith(_STORES) or url in _STORES or ":memory:" in url:
        raise Broken("must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
    return url


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Say that a key is not known, and which was meant."""
    known = list(known)
    return f"unknown key{_meant(key, known) or ': known are ' + ', '.join(known)}"


def _as_number(said: str) -> Any:
    """Read a number as TOML has it; what is none stays a text, which the rule refuses."""
    for kind in (int, float):
        try:
            value = kind(said)
        except ValueError:
            continue
        return value if math.isfinite(value) else said
    return said


def _as_flag(said: str) -> Any:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    return words.get(said.strip().lower(), said)


def _meant(said: Any, known: Iterable[str]) -> str:
    close = get_close_matches(str(said), list(known), n=1, cutoff=0.6)
    return f", did you mean {close[0]!r}?" if close else ""


@cache
def _is_zone(name: str) -> bool:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return False
    return True


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


TEXT = Rule(text)
FLAG = Rule(flag, _as_flag)
TOPIC = Rule(topic)
PREFIX = Rule(prefix)
HOST = Rule(host)
PORT = whole(1, 65_535)
FILE = Rule(lambda value: Path(text(value)))
TIMEZONE = Rule(timezone)
SECRET = Rule(secret, secret=True)
HASH = Rule(token_hash, secret=True)
STORE = Rule(store, secret=True)
