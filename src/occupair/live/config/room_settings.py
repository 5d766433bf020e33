"""Settings of a room: ``[rooms.ID]`` of ``rooms.toml``, the sources of its readings, and its outdoor air.

The description of each setting is part of the reference of the documentation; its unit is in brackets.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from occupair.control import AirControl, AirDemand
from occupair.control.planned_people import CONFIDENCE
from occupair.live.config.values import (
    Activity,
    BacnetAddress,
    BacnetObject,
    ClosedHours,
    DamperCurve,
    FilePath,
    Id,
    JsonPath,
    SpaceType,
    String,
    TimeZone,
    TopicName,
)
from occupair.live.messages import STALE_AFTER
from occupair.physics.room_properties import HEIGHT, PROPERTIES
from occupair.readings.gaps import LONGEST_HOLD
from occupair.readings.other_sensors import SENSORS

_Positive = Annotated[float, Field(gt=0, le=1e9)]

FormatName = Literal["auto", "number", "zigbee2mqtt", "tasmota", "ttn", "chirpstack", "json"]
_FULL = "Value at full ventilation."


class SettingsTable(BaseModel):
    """A table of the settings: types are not converted, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Topic(SettingsTable):
    """An MQTT topic that carries one quantity of a room."""

    topic: TopicName = Field(description="Topic that the device publishes to, without wildcards.")
    shape: FormatName = Field(
        default="auto", description='Payload format; `"auto"` recognises all but `"json"`.'
    )
    path: JsonPath | None = Field(
        default=None,
        description='Path of the value in JSON, such as `sensors[0].co2`; implies `shape = "json"`.',
    )
    time_path: JsonPath | None = Field(
        default=None, description="Path of the time of the reading in JSON. Default: the time of arrival."
    )


class VentilationTopic(Topic):
    """An MQTT topic that carries ventilation."""

    full: _Positive = Field(default=1.0, description=_FULL)


class BacnetPoint(SettingsTable):
    """A BACnet object whose present value is one quantity of a room."""

    bacnet: BacnetAddress = Field(
        description="Address of the device: `10.0.2.7`, `10.0.2.7:47809`, or `20:7` behind a router."
    )
    object: BacnetObject = Field(description="Object type and instance number, such as `analog-input,12`.")
    cov: bool = Field(
        default=True,
        description="Whether to subscribe to changes of the value (COV) if the device supports it.",
    )


class VentilationPoint(BacnetPoint):
    """A BACnet object that is ventilation."""

    full: _Positive = Field(default=1.0, description=_FULL)


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


class OutdoorAirTable(SettingsTable):
    """Outdoor air that the service recommends for a room, see `occupair.control`."""

    standard: Literal["ASHRAE 62.1", "EN 16798-1"] = Field(
        description="Ventilation rate procedure of ASHRAE 62.1, or method 1 of EN 16798-1."
    )
    space: SpaceType | None = Field(
        default=None, description='ASHRAE 62.1: occupancy category. Default: `"office"`.'
    )
    category: Literal["I", "II", "III", "IV"] = Field(
        default="II", description="EN 16798-1: category of indoor environmental quality."
    )
    building: Literal["very low polluting", "low polluting", "non low polluting"] = Field(
        default="low polluting", description="EN 16798-1: pollution class of the building."
    )
    area: _Positive | None = Field(default=None, description="Floor area [m²]. Default: that of the room.")
    effectiveness: Annotated[float, Field(ge=0.1, le=3)] = Field(
        default=1.0, description="Ventilation effectiveness, or zone air distribution effectiveness Ez."
    )
    design_people: _Positive | None = Field(
        default=None,
        description="Design occupancy [people]; its flow is the design flow. Default: `capacity`.",
    )
    confidence: Annotated[float, Field(ge=0.5, lt=1)] = Field(
        default=CONFIDENCE,
        description="Probability that there are not more people than planned for, one-sided.",
    )
    minimum: Annotated[float, Field(ge=0, le=1e9)] = Field(default=0.0, description="Lowest flow [L/s].")
    maximum: _Positive | None = Field(
        default=None,
        description="Highest flow [L/s], at which the damper is fully open. Default: the design flow.",
    )
    ramp_up: _Positive | None = Field(
        default=None, description="Fastest increase [L/s per min]. Default: increases apply at once."
    )
    ramp_down: _Positive | None = Field(
        default=None, description="Fastest decrease [L/s per min]. Default: from the maximum to 0 in 15 min."
    )
    deadband: Annotated[float, Field(ge=0, le=1e9)] | None = Field(
        default=None, description="Smallest decrease that is followed [L/s]. Default: 5 % of the maximum."
    )
    damper_curve: DamperCurve = Field(
        default=(), description="Pairs of flow [L/s] and damper position, 0 to 1. Default: proportional."
    )

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


class RoomTable(SettingsTable):
    """One room. The name of its table is its id in topics and URLs."""

    name: String = Field(default="", description="Display name. Default: the id.")
    model: FilePath | None = Field(
        default=None,
        description="Model file written by `occupair fit`. Without one the room needs its size and capacity, "
        "or head counts, to be estimated.",
    )
    timezone: TimeZone = Field(
        default="UTC",
        description="Time zone of the room, whose days start at local midnight. Default: `[service]`.",
    )
    co2: _Source | None = Field(default=None, description="CO2 [ppm]. Default: readings arrive over HTTP.")
    ventilation: _VentilationSource | None = Field(
        default=None, description="Ventilation signal, scaled to 0 to 1."
    )
    temperature: _Source | None = Field(default=None, description="Optional sensor: air temperature [°C].")
    humidity: _Source | None = Field(default=None, description="Optional sensor: relative humidity [%].")
    sound: _Source | None = Field(default=None, description="Optional sensor: sound level [dB].")
    light: _Source | None = Field(default=None, description="Optional sensor: illuminance [lx].")
    wifi: _Source | None = Field(default=None, description="Optional sensor: connected Wi-Fi clients.")
    power: _Source | None = Field(default=None, description="Optional sensor: power of the sockets [W].")
    motion: _Source | None = Field(
        default=None, description="Optional sensor: motion detector (PIR), 0 to 1."
    )
    floor: String = Field(default="", description="Floor or part of the building, for display.")
    interval: Annotated[float, Field(gt=0, le=LONGEST_HOLD)] | None = Field(
        default=None, description="Time between CO2 readings [min], if it is longer than that of the model."
    )
    stale_after: Annotated[float, Field(gt=0, le=1440)] = Field(
        default=STALE_AFTER,
        description="Time without readings after which the sensor counts as offline [min]; if it is not "
        "given, longer for sensors that send rarely.",
    )
    capacity: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Number of seats [people]."
    )
    closed: ClosedHours = Field(
        default=None,
        description='Times of day at which the room is empty, such as `"22:00-06:00"`, or a list of them. '
        "Default: midnight to 5:00, unless people were counted then.",
    )
    volume: _Positive | None = Field(
        default=None,
        description="Air volume [m³]. A room with its size and capacity and without a model is estimated "
        "from its first readings on.",
    )
    area: _Positive | None = Field(default=None, description="Floor area [m²], in place of `volume`.")
    height: _Positive | None = Field(
        default=None, description=f"Height [m], with `area`. Default: {HEIGHT:g}."
    )
    air_flow: _Positive | None = Field(
        default=None, description="Outdoor air flow at full ventilation [m³/h], if it is known."
    )
    activity: Activity = Field(
        default="seated", description="What people do, or the CO2 generation of a person in m³/h."
    )
    outdoor_co2: _Positive | None = Field(
        default=None, description="CO2 of the outdoor air as the sensor would show it [ppm], if it is known."
    )
    outdoor_air: OutdoorAirTable | None = Field(
        default=None,
        description="Outdoor air to recommend, a table of its own. Default: none is recommended.",
    )

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
    """A room with its id."""

    id: Id = Field(description="Id in topics and URLs: 1 to 64 characters of a-z, 0-9, _ and -.")
