"""Settings classes: the tables of ``rooms.toml`` with their types, ranges, defaults and descriptions.

A ``*Config`` class is what the service uses. A ``*Table`` class is a table of the file where the two differ:
the id of a room, for instance, is the name of its table and not a key in it. Rooms are in `room_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from occupair.errors import InputError
from occupair.live.config.room_settings import RoomConfig, RoomTable, SettingsTable
from occupair.live.config.values import (
    Address,
    BacnetNetwork,
    BbmdAddress,
    FilePath,
    Host,
    Id,
    Instance,
    IpAddress,
    Port,
    Secret,
    SecretFile,
    ShardNumber,
    StoreUrl,
    String,
    TimeZone,
    TokenHash,
    TopicPrefix,
)
from occupair.live.messages import MAX_PEOPLE
from occupair.web.limits import BODY_BYTES
from occupair.web.tokens import Role


class MqttConfig(SettingsTable):
    """The MQTT broker."""

    host: Host = Field(description="Host name or IP address of the broker.")
    port: Port = Field(default=1883, description="TCP port of the broker. Default with `tls = true`: 8883.")
    user: String | None = Field(default=None, description="User name.")
    password: Secret | None = Field(default=None, description="Password.")
    tls: bool = Field(default=False, description="Whether to use TLS.")
    ca_file: FilePath | None = Field(
        default=None, description="Certificate authority of the broker. Default: those of the system."
    )
    cert_file: FilePath | None = Field(default=None, description="Client certificate.")
    key_file: FilePath | None = Field(default=None, description="Private key of the client certificate.")
    version: Literal["5", "3.1.1"] = Field(default="5", description="MQTT version.")
    client_id: String = Field(default="occupair", description="Client id, unique on the broker.")
    prefix: TopicPrefix = Field(
        default="occupair", description="First levels of the topics that are published."
    )
    discovery_prefix: TopicPrefix = Field(
        default="homeassistant", description="First levels of the topics of Home Assistant discovery."
    )
    discovery: bool = Field(default=True, description="Whether to announce the rooms to Home Assistant.")
    session_expiry: Annotated[int, Field(ge=0, le=4_294_967_295)] = Field(
        default=86_400,
        description="How long the broker queues messages while the service is down [s]; MQTT 5 only.",
    )


class BacnetConfig(SettingsTable):
    """The BACnet/IP device of the service, which reads points and exposes the counts as objects."""

    address: BacnetNetwork = Field(
        description="Own IPv4 address with the length of the network mask, such as `10.0.2.5/24`."
    )
    device: Instance = Field(description="Own device instance number, unique in the BACnet network.")
    port: Port = Field(default=47808, description="Own UDP port.")
    bbmd: BbmdAddress | None = Field(
        default=None,
        description="BBMD in another subnet to register with as a foreign device, `IP` or `IP:PORT`. "
        "Default: only the own subnet.",
    )
    foreign_ttl: Annotated[int, Field(ge=30, le=65_535)] = Field(
        default=300, description="How long a registration with the BBMD lasts [s]; it is renewed before."
    )


class MqttTable(MqttConfig):
    """The MQTT broker."""

    password_file: SecretFile | None = Field(
        default=None, description="File with the password, in place of `password`."
    )


class TokenTable(SettingsTable):
    """An access token, created by `occupair token`. The name of its table is the name of the token."""

    role: Role = Field(description="What the token permits; each role includes those before it.")
    hash: TokenHash = Field(repr=False, description="SHA-256 hash of the token.")


class TokenConfig(TokenTable):
    """An access token with its name."""

    name: Id


class Limits(SettingsTable):
    """Limits on what one HTTP client may request."""

    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=600, description="Requests per minute of one client."
    )
    body_bytes: Annotated[int, Field(ge=1_000, le=1_000_000_000)] = Field(
        default=BODY_BYTES, description="Size of a request body [bytes]."
    )
    readings_per_post: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=10_000, description="Readings in one request."
    )
    people_per_label: Annotated[int, Field(ge=1, le=MAX_PEOPLE)] = Field(
        default=MAX_PEOPLE, description="Largest head count [people]."
    )


class ServiceTable(SettingsTable):
    """The service itself."""

    store: StoreUrl = Field(  # may hold a password
        default="sqlite:///occupair.db",
        repr=False,
        validate_default=True,
        description="Database: `sqlite:///FILE`, relative to the settings, or "
        "`postgresql://USER:PASSWORD@HOST/NAME`.",
    )
    host: Host = Field(
        default="127.0.0.1",
        description="Address to listen on. Any other than a loopback address requires tokens.",
    )
    port: Port = Field(default=8099, description="TCP port to listen on.")
    shard: ShardNumber | None = Field(
        default=None,
        description='Which of the services that share a PostgreSQL store this is, such as `"2/8"`. '
        "Default: the only one.",
    )
    advertise: Address | None = Field(
        default=None,
        description="`HOST:PORT` at which other shards reach this one. Default: `host` and `port`.",
    )
    timezone: TimeZone = Field(default="UTC", description="Default time zone of the rooms.")
    retention_days: Annotated[int, Field(ge=1, le=36_500)] = Field(
        default=400, description="How long readings and estimates are stored [d]."
    )
    clock: Literal["wall", "readings"] = Field(
        default="wall",
        description="Current time: that of the system, or of the newest reading to replay recorded data.",
    )
    log: Literal["json", "text"] = Field(default="text", description="Format of the log.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged."
    )
    room_metrics: bool = Field(default=True, description="Whether `/metrics` has metrics of each room.")
    ingress: IpAddress | None = Field(
        default=None,
        description="IP address of Home Assistant's ingress proxy, whose requests need no token.",
    )
    ingress_role: Role = Field(default="admin", description="Role of users of Home Assistant.")
    tolerance: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1e-3,
        description="Largest deviation of the fast evaluation of `fit --paper` models from Eq. (26) of the "
        "paper [people].",
    )


@dataclass(frozen=True)
class Origin:
    """Sources of the settings, to read them again: the file, the environment and the CLI options."""

    path: Path
    environ: Mapping[str, str] = field(repr=False)
    options: Mapping[str, str] = field(repr=False)

    def text(self) -> str:
        """Read the settings file."""
        try:
            return self.path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise InputError(f"{self.path}, line {line}: must be UTF-8 text") from None


class ServiceConfig(ServiceTable):
    """All settings of the service, and where they were read from."""

    tokens: tuple[TokenConfig, ...] = ()
    limits: Limits = Limits()
    mqtt: MqttConfig | None = None
    bacnet: BacnetConfig | None = None
    rooms: Mapping[str, RoomConfig] = {}
    origin: Origin | None = Field(default=None, repr=False)

    @cached_property
    def own_rooms(self) -> Mapping[str, RoomConfig]:
        """The rooms that this service estimates: those of its shard, or all."""
        shard = self.shard
        if shard is None:
            return self.rooms
        return {id_: room for id_, room in self.rooms.items() if shard.owns(id_)}


class SettingsFile(SettingsTable):
    """The tables of ``rooms.toml``."""

    service: ServiceTable
    mqtt: MqttTable | None = None
    bacnet: BacnetConfig | None = None
    limits: Limits = Limits()
    tokens: dict[Id, TokenTable] = Field(default={})
    rooms: dict[Id, RoomTable] = Field(min_length=1)


class Environment(ServiceTable, BaseSettings):
    """Settings that environment variables override: ``OCCUPAIR_PORT``, ``OCCUPAIR_MQTT__HOST``."""

    model_config = SettingsConfigDict(env_prefix="OCCUPAIR_", env_nested_delimiter="__", strict=False)
    mqtt: MqttTable | None = None
    bacnet: BacnetConfig | None = None
    limits: Limits = Limits()
