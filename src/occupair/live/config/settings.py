"""The settings of the service: one TOML file, overridden by the environment, checked as a whole.

`config_rules` has the rule of every value, `config_sections` reads the tables by them, `config_lines` finds
the line of a fault, and `config_check` looks at what the settings lead to: models, files, surprises.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from occupair.errors import InputError
from occupair.web.tokens import Role


@dataclass(frozen=True)
class Topic:
    """An MQTT topic on which a device tells one quantity, and the shape it tells it in.

    Parameters
    ----------
    topic : str
    shape : {"auto", "number", "zigbee2mqtt", "tasmota", "json"}
    path : str, optional
        Where the value is in JSON, its keys between dots.
    time_path : str, optional
        Where the time of the reading is in JSON; without it, the time of arrival counts.
    full : float
        The number that means fully on; for ventilation only.
    """

    topic: str
    shape: Literal["auto", "number", "zigbee2mqtt", "tasmota", "json"] = "auto"
    path: str | None = None
    time_path: str | None = None
    full: float = 1.0


@dataclass(frozen=True)
class RoomConfig:
    """One room.

    Parameters
    ----------
    id : str
        Its name in topics and addresses: up to 64 of a-z, 0-9, _ and -.
    name : str
        Its name for people.
    model : Path, optional
        Model file of ``occupair fit``; without it the room has no counts until it is trained.
    timezone : str
        Whose midnight begins its day.
    co2, ventilation : Topic, optional
        Where its readings come from; without, by HTTP.
    floor : str
        Where it is, for people.
    stale_after : float
        How long its sensor may be silent [min].
    capacity : int, optional
        How many fit in [people].
    """

    id: str
    name: str = ""
    model: Path | None = None
    timezone: str = "UTC"
    co2: Topic | None = None
    ventilation: Topic | None = None
    floor: str = ""
    stale_after: float = 15.0
    capacity: int | None = None


@dataclass(frozen=True)
class MqttConfig:
    """The broker, how to get in, and what topics of ours begin with.

    Parameters
    ----------
    host, port
        Where it is; the port is 8883 where ``tls`` is on and none is given.
    user, password
        Who we are to it.
    tls, ca_file, cert_file, key_file
        Whether to encrypt; whom to trust, if not the system's authorities; who we are.
    version : {"5", "3.1.1"}
    client_id : str
        The broker keeps our session by it: no two services may have the same.
    prefix, discovery_prefix : str
        First level of our topics, and of Home Assistant's.
    discovery : bool
        Whether Home Assistant is told of the rooms.
    session_expiry : int
        How long the broker keeps messages for us while we are away [s]; MQTT 5.
    """

    host: str
    port: int = 1883
    user: str | None = None
    password: SecretStr | None = None
    tls: bool = False
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    version: Literal["5", "3.1.1"] = "5"
    client_id: str = "occupair"
    prefix: str = "occupair"
    discovery_prefix: str = "homeassistant"
    discovery: bool = True
    session_expiry: int = 86_400


@dataclass(frozen=True)
class TokenConfig:
    """Who may get in, and what for; the token itself is nowhere, only its hash (`tokens.hash_token`)."""

    name: str
    role: Role
    hash: str = field(repr=False)


@dataclass(frozen=True)
class Limits:
    """How much one client may ask for."""

    requests_per_minute: int = 600
    body_bytes: int = 1_000_000
    readings_per_post: int = 10_000
    people_per_label: int = 10_000


@dataclass(frozen=True)
class Origin:
    """Where settings were read from, to read them again: the file, environment and options."""

    path: Path
    environ: Mapping[str, str] = field(repr=False)
    options: Mapping[str, str] = field(repr=False)

    def text(self) -> str:
        """Read the file."""
        try:
            return self.path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise InputError(f"{self.path}, line {line}: must be UTF-8 text") from None


@dataclass(frozen=True)
class ServiceConfig:
    """All settings of the service.

    Parameters
    ----------
    store : str
        SQLAlchemy URL of the database; by default ``occupair.db`` beside the settings.
    host, port
        Where it listens.
    timezone : str
        Of the rooms that give none.
    retention_days : int
        How long readings and estimates are kept.
    clock : {"wall", "readings"}
        What tells the time: this machine, or the newest reading of all (to replay records).
    log, log_level
        ``"text"`` or ``"json"``; ``"debug"``, ``"info"``, ``"warning"`` or ``"error"``.
    room_metrics : bool
        Whether /metrics has series for every room.
    tolerance : float
        How far the counts of models of ``fit --paper`` may be from Jiang et al. 2016, Eq. (26) written out,
        for speed [people].
    tokens, limits, mqtt, rooms
        Who gets in, how much they may ask, the broker if any, and the rooms by id.
    origin : Origin, optional
        Where these settings came from.
    """

    store: str = field(repr=False)  # may have a password in it
    host: str = "127.0.0.1"
    port: int = 8099
    timezone: str = "UTC"
    retention_days: int = 400
    clock: Literal["wall", "readings"] = "wall"
    log: Literal["json", "text"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    room_metrics: bool = True
    tolerance: float = 1e-3
    tokens: tuple[TokenConfig, ...] = ()
    limits: Limits = field(default_factory=Limits)
    mqtt: MqttConfig | None = None
    rooms: Mapping[str, RoomConfig] = field(default_factory=dict)
    origin: Origin | None = field(default=None, repr=False, compare=False)


def read_config(
    path: str | os.PathLike[str],
    environ: Mapping[str, str] = os.environ,
    *,
    options: Mapping[str, str] | None = None,
) -> ServiceConfig:
    """Read and check the settings of the service.

    Parameters
    ----------
    path : path
        TOML file; paths in it that are relative are beside it.
    environ : mapping
        ``OCCUPAIR_PORT`` overrides ``port`` of ``[service]``, ``OCCUPAIR_MQTT__PASSWORD`` overrides
        ``password`` of ``[mqtt]``, and so on for ``[limits]``. Empty is not set.
    options : mapping, optional
        What the command line overrides, e.g. ``{"--port": "80"}``.

    Raises
    ------
    InputError
        With all faults, a line for each: ``rooms.toml, line 12, rooms.lab.co2: must be a text, got 5``.
    """
    from occupair.live.config.sections import read_sections

    path = Path(path)
    ours = {name: value for name, value in environ.items() if name.startswith("OCCUPAIR_")}
    origin = Origin(path, ours, dict(options or {}))
    text = origin.text()
    return read_sections(_values_of(path, text), text, origin)


def reread(config: ServiceConfig) -> ServiceConfig:
    """Read settings again from where they came from, with the environment and options of the first time."""
    if config.origin is None:
        raise InputError("settings that were not read from a file cannot be read again")
    return read_config(config.origin.path, config.origin.environ, options=config.origin.options)


def _values_of(path: Path, text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words, _, place = str(error).rpartition(" (at ")
        line = "" if place.startswith("end of") else f", {place.rstrip(')').split(', column')[0]}"
        raise InputError(f"{path}{line}: {words[:1].lower()}{words[1:]}") from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply") from None
