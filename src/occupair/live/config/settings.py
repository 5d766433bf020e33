"""Settings classes: the tables of ``rooms.toml`` with their types, ranges and defaults.

A ``*Config`` class is what the service uses. A ``*Table`` class is a table of the file where the two differ:
the id of a room, for instance, is the name of its table and not a key in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic_settings import BaseSettings, SettingsConfigDict

from occupair.control import AirControl, AirDemand
from occupair.control.planned_people import CONFIDENCE
from occupair.errors import InputError
from occupair.live.config.values import (
    Activity,
    Address,
    BacnetAddress,
    BacnetNetwork,
    BacnetObject,
    BbmdAddress,
    ClosedHours,
    DamperCurve,
    FilePath,
    Host,
    Id,
    Instance,
    IpAddress,
    JsonPath,
    Port,
    Secret,
    SecretFile,
    ShardNumber,
    SpaceType,
    StoreUrl,
    String,
    TimeZone,
    TokenHash,
    TopicName,
    TopicPrefix,
)
from occupair.live.messages import MAX_PEOPLE, STALE_AFTER
from occupair.physics.room_properties import HEIGHT, PROPERTIES
from occupair.readings.gaps import LONGEST_HOLD
from occupair.readings.other_sensors import SENSORS
from occupair.web.limits import BODY_BYTES
from occupair.web.tokens import Role

_Positive = Annotated[float, Field(gt=0, le=1e9)]

FormatName = Literal["auto", "number", "zigbee2mqtt", "tasmota", "ttn", "chirpstack", "json"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Topic(_Model):
    """An MQTT topic that carries one quantity of a room.

    Parameters
    ----------
    topic : str
    shape : {"auto", "number", "zigbee2mqtt", "tasmota", "ttn", "chirpstack", "json"}
        Payload format, see `occupair.live.mqtt.formats`.
    path : str, optional
        Path of the value in JSON, e.g. ``sensors[0].co2``.
    time_path : str, optional
        Path of the reading's time in JSON. Default: the time of arrival.
    """

    topic: TopicName
    shape: FormatName = "auto"
    path: JsonPath | None = None
    time_path: JsonPath | None = None


class VentilationTopic(Topic):
    """An MQTT topic that carries ventilation; ``full`` is the value that means fully on."""

    full: Annotated[float, Field(gt=0, le=1e9)] = 1.0


class BacnetPoint(_Model):
    """A BACnet object whose present value is one quantity of a room.

    Parameters
    ----------
    bacnet : str
        Address of the device: ``10.0.2.7``, ``10.0.2.7:47809``, or ``20:7`` behind a router.
    object : str
        Object type and instance number, e.g. ``analog-input,12``.
    cov : bool
        Whether to subscribe to changes of the value (COV) if the device supports it.
    """

    bacnet: BacnetAddress
    object: BacnetObject
    cov: bool = True


class VentilationPoint(BacnetPoint):
    """A BACnet object that is ventilation; ``full`` is the value that means fully on."""

    full: Annotated[float, Field(gt=0, le=1e9)] = 1.0


def _expand_topic(value: Any) -> Any:
    """Expand a plain string to the table it abbreviates."""
    if isinstance(value, str):
        return {"topic": value}
    if not isinstance(value, dict | Topic | BacnetPoint):
        raise ValueError("must be a topic, or a table with a topic or a BACnet object")
    if isinstance(value, dict) and "path" in value:
        return {"shape": "json", **value}
    return value


def _source_tag(value: Any) -> str:
    is_bacnet = isinstance(value, BacnetPoint) or (isinstance(value, dict) and "bacnet" in value)
    return SOURCE_TAGS[is_bacnet]


SOURCE_TAGS = ("<mqtt>", "<bacnet>")
"""Names of the two kinds of sources in the locations of pydantic."""
_Source = Annotated[
    Annotated[Topic, Tag("<mqtt>")] | Annotated[BacnetPoint, Tag("<bacnet>")],
    Discriminator(_source_tag),
    BeforeValidator(_expand_topic),
]
_VentilationSource = Annotated[
    Annotated[VentilationTopic, Tag("<mqtt>")] | Annotated[VentilationPoint, Tag("<bacnet>")],
    Discriminator(_source_tag),
    BeforeValidator(_expand_topic),
]


class OutdoorAirTable(_Model):
    """``[rooms.ID.outdoor_air]``: outdoor air that the service recommends for a room.

    Parameters
    ----------
    standard : {"ASHRAE 62.1", "EN 16798-1"}
    space : str, optional
        Occupancy category of ASHRAE 62.1.
    category, building : str
        Category and kind of building of EN 16798-1.
    area, design_people : float, optional
        Floor area [m2] and design occupancy [people]. Default: area and capacity of the room.
    effectiveness, confidence, minimum, maximum, ramp_up, ramp_down, deadband, damper_curve
        See ``occupair.control.AirDemand`` and ``AirControl``.
    """

    standard: Literal["ASHRAE 62.1", "EN 16798-1"]
    space: SpaceType | None = None
    category: Literal["I", "II", "III", "IV"] = "II"
    building: Literal["very low polluting", "low polluting", "non low polluting"] = "low polluting"
    area: _Positive | None = None
    effectiveness: Annotated[float, Field(ge=0.1, le=3)] = 1.0
    design_people: _Positive | None = None
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = CONFIDENCE
    minimum: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    maximum: _Positive | None = None
    ramp_up: _Positive | None = None
    ramp_down: _Positive | None = None
    deadband: Annotated[float, Field(ge=0, le=1e9)] | None = None
    damper_curve: DamperCurve = ()

    def control(self, area: float, capacity: float | None) -> AirControl:
        """Return the settings for a room with a floor area [m2] and a capacity [people]."""
        demand = AirDemand(
            self.standard,
            area if self.area is None else self.area,
            space=self.space or "office",
            category=self.category,
            building=self.building,
            effectiveness=self.effectiveness,
        )
        design_people = capacity if self.design_people is None else self.design_people
        assert design_people is not None  # see `conflicts`
        names = ("confidence", "minimum", "maximum", "ramp_up", "ramp_down", "deadband", "damper_curve")
        return AirControl(demand, design_people, **{name: getattr(self, name) for name in names})


class RoomTable(_Model):
    """``[rooms.ID]``; see `RoomConfig`."""

    name: String = ""
    model: FilePath | None = None
    timezone: TimeZone = "UTC"
    co2: _Source | None = None
    ventilation: _VentilationSource | None = None
    temperature: _Source | None = None
    humidity: _Source | None = None
    sound: _Source | None = None
    light: _Source | None = None
    wifi: _Source | None = None
    power: _Source | None = None
    motion: _Source | None = None
    floor: String = ""
    interval: Annotated[float, Field(gt=0, le=LONGEST_HOLD)] | None = None
    stale_after: Annotated[float, Field(gt=0, le=1440)] = STALE_AFTER
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    closed: ClosedHours = None
    volume: _Positive | None = None
    area: _Positive | None = None
    height: _Positive | None = None
    air_flow: _Positive | None = None
    activity: Activity = "seated"
    outdoor_co2: _Positive | None = None
    outdoor_air: OutdoorAirTable | None = None

    @property
    def air_control(self) -> AirControl | None:
        """How the recommended outdoor air follows the count; None if there are no settings for it."""
        if self.outdoor_air is None:
            return None
        area = self.area or (self.volume or 0.0) / (self.height or HEIGHT)
        return self.outdoor_air.control(area, self.capacity)

    @property
    def given_stale_after(self) -> float | None:
        """``stale_after`` if it is given."""
        return self.stale_after if "stale_after" in self.model_fields_set else None

    @property
    def properties(self) -> dict[str, Any] | None:
        """What is known of the room besides head counts; None if its size or its capacity is not known."""
        if self.capacity is None or (self.volume is None and self.area is None):
            return None
        return {name: getattr(self, name) for name in PROPERTIES}

    @property
    def topics(self) -> dict[str, Topic]:
        """The topic of each quantity that has one."""
        return {name: source for name, source in self.sources.items() if isinstance(source, Topic)}

    @property
    def points(self) -> dict[str, BacnetPoint]:
        """The BACnet object of each quantity that has one."""
        return {name: source for name, source in self.sources.items() if isinstance(source, BacnetPoint)}

    @property
    def sources(self) -> dict[str, Topic | BacnetPoint]:
        """The topic or BACnet object of each quantity that has one."""
        found = {name: getattr(self, name) for name in ("co2", "ventilation", *SENSORS)}
        return {name: source for name, source in found.items() if source is not None}


class RoomConfig(RoomTable):
    """One room.

    Parameters
    ----------
    id : str
        Identifier in topics and URLs: up to 64 characters of a-z, 0-9, _ and -.
    name : str
        Display name. Default in a file: the id.
    model : Path, optional
        Model file written by ``occupair fit``. Without one the room has no estimates until it is trained.
    timezone : str
        Time zone of the room's midnight. Default in a file: that of the service.
    co2, ventilation : Topic or BacnetPoint, optional
        Sources of the readings. Without them, readings arrive over HTTP.
    temperature, humidity, sound, light, wifi, power, motion : Topic or BacnetPoint, optional
        Sources of optional sensors [°C, % RH, dB, lx, clients, W, 0..1]; see
        ``occupair.readings.other_sensors``.
    floor : str
        Floor or building part, for display.
    interval : float, optional
        Time between CO2 readings [min], if it is longer than that of the model.
    stale_after : float
        Time without readings after which the sensor counts as offline [min]. If it is not given: this
        default, or as long as gaps are bridged, which is longer for sensors that send rarely.
    capacity : int, optional
        Number of seats [people].
    volume, area, height : float, optional
        Air volume [m3], or floor area [m2] and height [m]. A room with its size and capacity, and without a
        model, is estimated from the first reading on, see ``occupair.live.calibration``.
    air_flow, activity, outdoor_co2 : optional
        Outdoor air flow at full ventilation [m3/h], what people do (or their CO2 generation [m3/h]), and
        outdoor CO2 [ppm]; see ``occupair.physics.room_properties``.
    outdoor_air : OutdoorAirTable, optional
        Outdoor air to recommend. Default: none is recommended.
    closed : tuple of str, optional
        Times of day at which the room is empty, such as ``22:00-06:00``, where head counts are missing.
        Default: midnight to 05:00, unless people were counted then.
    """

    id: Id


class MqttConfig(_Model):
    """The MQTT broker.

    Parameters
    ----------
    host, port
        Address of the broker. The default port is 8883 with TLS in a settings file, else 1883.
    user, password
        Credentials.
    tls, ca_file, cert_file, key_file
        TLS, the certificate authority (default: those of the system), and the client certificate.
    version : {"5", "3.1.1"}
    client_id : str
        Identifies the session, so it must be unique on the broker.
    prefix, discovery_prefix : str
        First levels of the topics of occupair and of Home Assistant discovery.
    discovery : bool
        Whether to publish Home Assistant discovery messages.
    session_expiry : int
        How long the broker queues messages while the service is offline [s]; MQTT 5 only.
    """

    host: Host
    port: Port = 1883
    user: String | None = None
    password: Secret | None = None
    tls: bool = False
    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    version: Literal["5", "3.1.1"] = "5"
    client_id: String = "occupair"
    prefix: TopicPrefix = "occupair"
    discovery_prefix: TopicPrefix = "homeassistant"
    discovery: bool = True
    session_expiry: Annotated[int, Field(ge=0, le=4_294_967_295)] = 86_400


class BacnetConfig(_Model):
    """The BACnet/IP device of the service, which reads points and has the counts as objects.

    Parameters
    ----------
    address : str
        Own IPv4 address, with the length of the network mask for broadcasts: ``10.0.2.5/24``.
    device : int
        Own device instance number, unique in the BACnet network.
    port : int
        Own UDP port.
    bbmd : str, optional
        BBMD in another subnet to register with as a foreign device, ``IP`` or ``IP:PORT``.
    foreign_ttl : int
        How long a registration with the BBMD lasts, which is renewed before [s].
    """

    address: BacnetNetwork
    device: Instance
    port: Port = 47808
    bbmd: BbmdAddress | None = None
    foreign_ttl: Annotated[int, Field(ge=30, le=65_535)] = 300


class MqttTable(MqttConfig):
    """``[mqtt]``: the password may also be in a file of its own."""

    password_file: SecretFile | None = None


class TokenTable(_Model):
    """``[tokens.NAME]``: an access token, by its hash (`occupair.web.tokens.hash_token`)."""

    role: Role
    hash: TokenHash = Field(repr=False)


class TokenConfig(TokenTable):
    """An access token with its name."""

    name: Id


class Limits(_Model):
    """Limits on what one HTTP client may request."""

    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 600
    body_bytes: Annotated[int, Field(ge=1_000, le=1_000_000_000)] = BODY_BYTES
    readings_per_post: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    people_per_label: Annotated[int, Field(ge=1, le=MAX_PEOPLE)] = MAX_PEOPLE


class ServiceTable(_Model):
    """``[service]``; see `ServiceConfig`."""

    store: StoreUrl = Field(  # may hold a password
        default="sqlite:///occupair.db", repr=False, validate_default=True
    )
    host: Host = "127.0.0.1"
    port: Port = 8099
    shard: ShardNumber | None = None
    advertise: Address | None = None
    timezone: TimeZone = "UTC"
    retention_days: Annotated[int, Field(ge=1, le=36_500)] = 400
    clock: Literal["wall", "readings"] = "wall"
    log: Literal["json", "text"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    room_metrics: bool = True
    ingress: IpAddress | None = None
    ingress_role: Role = "admin"
    tolerance: Annotated[float, Field(gt=0, le=1)] = 1e-3


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
    """All settings of the service.

    Parameters
    ----------
    store : str
        SQLAlchemy URL of the database. Default in a file: ``occupair.db`` next to the file.
    host, port
        Address to listen on.
    shard : Shard, optional
        Which of the services that share the store this is, see `occupair.live.sharding`. Default: the only
        one.
    advertise : str, optional
        ``HOST:PORT`` at which other shards reach this one. Default: from ``host`` and ``port``.
    timezone : str
        Default time zone of the rooms.
    retention_days : int
        How long readings and estimates are stored [d].
    clock : {"wall", "readings"}
        Source of the current time: the system clock, or the newest reading (to replay recorded data).
    log, log_level
        Log format ``"text"`` or ``"json"``, and the lowest level that is logged.
    room_metrics : bool
        Whether /metrics includes series per room.
    ingress : str, optional
        IP address of Home Assistant's ingress proxy, whose requests need no token.
    ingress_role : {"read", "write", "admin"}
        Role of users of Home Assistant.
    tolerance : float
        Largest deviation of the fast evaluation of ``fit --paper`` models from the reference implementation
        of Jiang et al. 2016, Eq. (26) [people].
    tokens, limits, mqtt, bacnet, rooms
        Access tokens, request limits, the broker and the BACnet device if there are any, and the rooms by id.
    origin : Origin, optional
        Where the settings were read from.
    """

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


class SettingsFile(_Model):
    """The tables of ``rooms.toml``."""

    service: ServiceTable
    mqtt: MqttTable | None = None
    bacnet: BacnetConfig | None = None
    limits: Limits = Limits()
    tokens: dict[Id, TokenTable] = {}
    rooms: dict[Id, RoomTable] = Field(min_length=1)


class Environment(ServiceTable, BaseSettings):
    """Settings that environment variables override: ``OCCUPAIR_PORT``, ``OCCUPAIR_MQTT__HOST``."""

    model_config = SettingsConfigDict(env_prefix="OCCUPAIR_", env_nested_delimiter="__", strict=False)
    mqtt: MqttTable | None = None
    bacnet: BacnetConfig | None = None
    limits: Limits = Limits()
