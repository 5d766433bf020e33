"""Pydantic models of requests and responses, also for OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from occupair.live.messages import MAX_PEOPLE, LabelSource, Quality, ReadingOutcome
from occupair.readings.other_sensors import SENSOR_UNITS, SENSORS
from occupair.room.lags import PUBLISHED_FIELDS, PUBLISHED_LAGS

MAX_ESTIMATES = 10_000
MAX_VERSION = 2**31 - 1
_EXAMPLE_TIME = "2026-03-02T09:00:00Z"

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time", "examples": [_EXAMPLE_TIME]})]


def _to_integer(value: Any) -> Any:
    """Accept 3 and 3.0, which JSON does not distinguish, but neither "3" nor true."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("integer", "must be an integer")
    return value


_People = Annotated[int, Field(ge=0, le=MAX_PEOPLE), BeforeValidator(_to_integer)]


class Problem(BaseModel):
    """An error, in one line."""

    detail: str = Field(examples=["there is no room 'attic'"])


def _with_refined(start: type[BaseModel], description: str) -> Any:
    """Return a model with a field for each of ``PUBLISHED_LAGS`` after the fields of ``start``."""
    refined: dict[str, Any] = {
        name: (float | None, Field(description=description.format(lag=f"{lag:g}")))
        for name, lag in zip(PUBLISHED_FIELDS, PUBLISHED_LAGS, strict=True)
    }
    return create_model(start.__name__, __base__=start, **refined)


class _StateStart(BaseModel):
    room: str
    time: Time | None = Field(description="Time of the newest estimate.")
    people: int | None = Field(description="Occupancy, rounded [people].")
    people_exact: float | None = Field(description="Occupancy, unrounded [people].")
    low: float | None = Field(description="Lower limit of the prediction interval [people].")
    high: float | None = Field(description="Upper limit of the prediction interval [people].")
    occupied: bool | None = Field(description="Whether anybody is in the room.")
    co2: float | None = Field(description="CO2 [ppm]")
    co2_smoothed: float | None = Field(description="CO2, smoothed [ppm]")
    ventilation: float | None = Field(description="Ventilation [0..1]")


class State(_with_refined(_StateStart, "{lag}-minute refined estimate, for {lag} minutes ago [people].")):  # type: ignore[misc]
    """Current state of a room; null means unknown."""

    quality: Quality = Field(description="Quality flag.")
    reason: str = Field(
        description="Why the occupancy is unknown, unusual, or estimated without optional sensors; else "
        "empty. See `Accept-Language` (en, de)."
    )
    trend: Literal[-1, 0, 1] = Field(
        description="Change of the occupancy within ten minutes: 1 rising, -1 falling, else 0."
    )
    baseline_shift: float | None = Field(
        description="Shift of the CO2 baseline since training that the occupancy is corrected for [ppm]."
    )
    note: str = Field(
        description="What else to know about the sensor, such as a shift of its baseline; mostly empty. "
        "See `Accept-Language` (en, de)."
    )
    outdoor_air: float | None = Field(
        description="Recommended outdoor air [L/s]; null if the room has no settings for it."
    )
    damper: float | None = Field(description="Damper position for that flow [0..1].")
    outdoor_air_people: float | None = Field(
        description="Count that the outdoor air is planned for [people]; null: unknown, so that it is the "
        "design flow."
    )


class OutdoorAir(BaseModel):
    """Settings of the recommended outdoor air."""

    standard: Literal["ASHRAE 62.1", "EN 16798-1"]
    space: str | None = Field(description="Occupancy category of ASHRAE 62.1; null with EN 16798-1.")
    category: str | None = Field(description="Category of EN 16798-1, I to IV; null with ASHRAE 62.1.")
    confidence: float = Field(description="Probability that the planned count is not exceeded [0..1].")
    design_people: float = Field(description="Design occupancy [people].")
    design_flow: float = Field(
        description="Flow for the design occupancy, and if the count is unknown [L/s]."
    )
    minimum: float = Field(description="Lowest flow [L/s].")
    maximum: float = Field(description="Highest flow, at which the damper is fully open [L/s].")


class Room(BaseModel):
    """A room and its current state."""

    room: str = Field(description="Room id.")
    name: str
    floor: str
    timezone: str = Field(
        description="Time zone; the room's day starts at its midnight.", examples=["Europe/Copenhagen"]
    )
    capacity: int | None = Field(description="Capacity [people].")
    outdoor_air: OutdoorAir | None = Field(
        description="Settings of the recommended outdoor air; null if the room has none."
    )
    state: State


class Rooms(BaseModel):
    """All rooms."""

    rooms: list[Room]


class _EstimateStart(BaseModel):
    time: Time
    people: float | None = Field(description="Occupancy as estimated at that time, unrounded [people].")
    low: float | None = Field(description="Lower limit of the prediction interval [people].")
    high: float | None = Field(description="Upper limit of the prediction interval [people].")


class Estimate(_with_refined(_EstimateStart, "{lag}-minute refined estimate for this time [people].")):  # type: ignore[misc]
    """Estimate for one grid time; null means unknown."""

    co2: float | None = Field(description="CO2 [ppm]")
    co2_smoothed: float | None = Field(description="CO2, smoothed with the readings up to that time [ppm].")
    ventilation: float | None = Field(description="Ventilation [0..1]")
    quality: Quality


class History(BaseModel):
    """A page of estimates in order of time."""

    estimates: list[Estimate] = Field(max_length=MAX_ESTIMATES)
    next: Time | None = Field(description="Value of `after` for the next page; null on the last page.")


class Hour(BaseModel):
    """Use of a room in one hour of its local time; null means unknown."""

    start: Time = Field(description="Start, in the local time of the room.")
    minutes: int = Field(description="Length; less than 60 if the clocks change within the hour [min].")
    people: float | None = Field(description="Mean occupancy [people].")
    peak: float | None = Field(description="Largest occupancy [people].")
    low: float | None = Field(description="Mean lower limit of the prediction intervals [people].")
    high: float | None = Field(description="Mean upper limit of the prediction intervals [people].")
    known: float = Field(ge=0, le=1, description="Fraction of the hour with a known occupancy [0..1].")
    in_use: float = Field(ge=0, description="Time with at least one person [min].")


class Hours(BaseModel):
    """Hours of a room in order of time."""

    hours: list[Hour]


class ZoneToday(BaseModel):
    """The current day of all rooms of a time zone."""

    timezone: str
    day: str = Field(description="Local date.", examples=["2026-03-11"])
    start: Time = Field(description="Local midnight.")
    slots: int = Field(description="Slots of the day: 48, or 46 or 50 when the clocks change.")
    rooms: dict[str, list[float | None]] = Field(
        description="By room id, the mean occupancy of each slot up to the last known one [people]; null if "
        "unknown."
    )


class Today(BaseModel):
    """All rooms since their local midnight."""

    minutes: int = Field(description="Length of a slot [min].")
    days: list[ZoneToday]


class PlaceIn(BaseModel):
    """Place of a room on the plan of its floor."""

    x: float = Field(ge=0, le=1, description="Distance from the left edge [0..1].")
    y: float = Field(ge=0, le=1, description="Distance from the top edge [0..1].")


class PlaceOut(PlaceIn):
    """Place of a room."""

    room: str = Field(description="Room id.")


class PlanEntry(BaseModel):
    """Plan of a floor."""

    floor: str
    media_type: Literal["image/svg+xml", "image/png"]
    width: float = Field(gt=0, description="Width, in the same unit as the height.")
    height: float = Field(gt=0)
    size: int = Field(description="Size of the file [bytes]")
    sha256: str
    created: Time


class Floors(BaseModel):
    """Plans of floors, and places of rooms on them."""

    plans: list[PlanEntry]
    places: list[PlaceOut]


_NUMBERS: dict[str, dict[str, Any]] = {"co2": {}, "ventilation": {}} | {
    name: {"minimum": rule.low, "maximum": rule.high} for name, rule in SENSORS.items()
}
_ONE_QUANTITY: list[Any] = [
    {"required": [name], "properties": {name: {"type": "number", **limits}}}
    for name, limits in _NUMBERS.items()
]


class _ReadingStart(BaseModel):
    """One reading. Other fields are ignored, and so are values of optional sensors out of range."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": _ONE_QUANTITY,
            "examples": [{"time": _EXAMPLE_TIME, "co2": 612.0, "ventilation": 0.5}],
        }
    )

    time: Time | None = Field(
        default=None, description="Default: now. Without an offset it is a local time of the room."
    )
    co2: float | None = Field(default=None, description="CO2 [ppm]")
    ventilation: float | None = Field(default=None, description="Ventilation [0..1]")


_SENSOR_FIELDS: dict[str, Any] = {
    name: (float | None, Field(default=None, description=f"Optional sensor [{unit}]"))
    for name, unit in SENSOR_UNITS.items()
}
ReadingIn = create_model("ReadingIn", __base__=_ReadingStart, __doc__=_ReadingStart.__doc__, **_SENSOR_FIELDS)


class Outcome(BaseModel):
    """Outcome of one reading."""

    time: Time | None = Field(description="Time of measurement; null if it cannot be parsed.")
    outcome: ReadingOutcome
    detail: str | None = Field(default=None, description="Why the reading was not stored.")


class Outcomes(BaseModel):
    """Outcomes of the readings, in the same order."""

    outcomes: list[Outcome]


_SOURCE = (
    "`typed`: counted and entered as a number. `confirmed`: somebody confirmed the estimate that was shown; "
    "not used for training. `unknown`: not stated."
)


class LabelIn(BaseModel):
    """A head count."""

    people: _People = Field(description="Head count [people]")
    time: Time | None = Field(
        default=None, description="Default: now. Without an offset it is a local time of the room."
    )
    source: LabelSource = Field(default="unknown", description=_SOURCE)
    estimate: _People | None = Field(
        default=None,
        description="Estimate that was shown [people]. Default: the current one, unless `time` is given.",
    )


class LabelOut(BaseModel):
    """A stored head count."""

    time: Time
    people: int = Field(description="Head count [people]")
    entered: Time = Field(description="When it was entered.")
    source: LabelSource = Field(description=_SOURCE)
    estimate: int | None = Field(description="Estimate when it was entered [people]; null if unknown.")


class Labels(BaseModel):
    """Labels of a room in order of time."""

    labels: list[LabelOut]


class ModelEntry(BaseModel):
    """A model of a room."""

    version: int = Field(ge=1, le=MAX_VERSION)
    origin: str = Field(
        description="`file` (from the settings), `upload`, `trained` or `calibrated`.", examples=["file"]
    )
    note: str
    sha256: str
    size: int = Field(description="Size of the file [bytes]")
    created: Time
    active: bool = Field(description="Whether the model is in use.")


class AirChange(BaseModel):
    """Air change rate at one ventilation level."""

    ventilation: float | None = Field(
        description="Ventilation [0..1]; null: by day, in a room without a ventilation signal."
    )
    rate: float = Field(description="Air change rate [1/h]")
    low: float = Field(description="Lower end of its 90 % range [1/h]")
    high: float = Field(description="Upper end of its 90 % range [1/h]")


class RoomAirOut(BaseModel):
    """What CO2 tells about the air of a room with known size and seats."""

    rates: list[AirChange]
    base_level: float = Field(description="CO2 of the empty room [ppm]")
    volume: float = Field(description="Volume: as given, or as head counts suggest [m3]")
    capacity: float = Field(description="Seats [people]")
    outdoor_air_per_person: float = Field(description="Outdoor air with all seats taken [L/s per person]")
    days: int = Field(description="Days of readings; 0 before the first night.")
    is_calibrated: bool = Field(description="Whether head counts calibrated it.")
    doubts: list[str] = Field(description="Reasons not to trust the estimates.")
    busy_hour: int | None = Field(description="Hour at which a head count helps most; null if unknown.")


class Models(BaseModel):
    """Models of a room."""

    models: list[ModelEntry]


class Version(BaseModel):
    """The model in use from now on."""

    version: int = Field(ge=1, le=MAX_VERSION)


class Score(BaseModel):
    """Error of a model on labelled days that it was not trained on."""

    model_config = ConfigDict(extra="allow")

    rmse: float | None = Field(
        default=None,
        description="Root mean square error [people]; null if people were counted on too few days.",
    )
    labels: int | None = Field(default=None, description="Number of head counts.")
    days: int | None = Field(default=None, description="Number of days with head counts.")
    occupied_days: int | None = Field(default=None, description="Number of days with people.")
    occupied_rmse: float | None = Field(default=None, description="`rmse` on the days with people [people].")
    independent: bool | None = Field(
        default=None, description="False if the model may have been trained on these days."
    )


class Training(BaseModel):
    """Progress and result of a training run."""

    model_config = ConfigDict(extra="allow")

    status: Literal["idle", "running", "done", "failed"]
    progress: float = Field(default=0.0, ge=0, le=1, description="Progress [0..1]")
    new: Score | None = Field(
        default=None, description="Score of the new model, cross-validated over all labelled days."
    )
    old: Score | None = Field(
        default=None, description="Score of the model in use on the days that it was not trained on."
    )
    new_on_same_days: Score | None = Field(
        default=None, description="Score of the new model on the days of `old`."
    )
    better: Literal["new", "old"] | None = Field(
        default=None, description="The better model; null if the difference may be due to chance."
    )
    message: str = ""


class Login(BaseModel):
    """An access token."""

    token: str = Field(min_length=1, max_length=500)


class Me(BaseModel):
    """Name and role of the caller."""

    name: str = Field(description="Name of the token; empty if the service has no tokens.")
    role: Literal["read", "write", "admin"]


class Health(BaseModel):
    """Health of the service."""

    status: Literal["ok", "degraded", "failing"]
    parts: dict[str, str] | None = Field(
        default=None, description="Status of each part; only with a valid token.", examples=[{"store": "ok"}]
    )
