"""What goes over the wire, for OpenAPI, and the rules of what comes in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from occupair.live.messages import Quality, ReadingOutcome
from occupair.room.lags import PUBLISHED_FIELD

MOST_PEOPLE = 10_000
MOST_ESTIMATES = 10_000
MOST_VERSION = 2**31 - 1
_EXAMPLE_TIME = "2026-03-02T09:00:00Z"

Time = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time", "examples": [_EXAMPLE_TIME]})]


def _whole(value: Any) -> Any:
    """Take 3 and 3.0, which JSON does not tell apart, but neither "3" nor true."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("integer", "must be an integer")
    return value


class Problem(BaseModel):
    """What is wrong, in one line."""

    detail: str = Field(examples=["there is no room 'attic'"])


class State(BaseModel):
    """What a room says now; null: not known."""

    room: str
    time: Time | None = Field(description="Of the newest estimate.")
    people: int | None = Field(description="How many are in [people].")
    people_exact: float | None = Field(description="The same unrounded [people].")
    low: float | None = Field(description="Low end of its range [people].")
    high: float | None = Field(description="High end of its range [people].")
    occupied: bool | None = Field(description="Whether anybody is in.")
    co2: float | None = Field(description="[ppm]")
    co2_smoothed: float | None = Field(description="[ppm]")
    ventilation: float | None = Field(description="[0..1]")
    people_refined: float | None = Field(
        validation_alias=PUBLISHED_FIELD,
        serialization_alias=PUBLISHED_FIELD,
        description="Refined estimate for 20 min ago [people].",
    )
    quality: Quality = Field(description="What the count is worth.")
    reason: str = Field(description="Why the count is not known; empty when it is.")
    trend: Literal[-1, 0, 1] = Field(description="Rises, falls or neither, against ten minutes ago.")


class Room(BaseModel):
    """A room and what it says now."""

    room: str = Field(description="Its id.")
    name: str
    floor: str
    timezone: str = Field(description="Whose midnight begins its day.", examples=["Europe/Copenhagen"])
    capacity: int | None = Field(description="How many fit in [people].")
    state: State


class Rooms(BaseModel):
    """All rooms."""

    rooms: list[Room]


class Estimate(BaseModel):
    """One estimate of one grid time; null: not known."""

    time: Time
    people: float | None = Field(description="What was said then, unrounded [people].")
    low: float | None = Field(description="Low end of its range [people].")
    high: float | None = Field(description="High end of its range [people].")
    people_refined: float | None = Field(
        validation_alias=PUBLISHED_FIELD,
        serialization_alias=PUBLISHED_FIELD,
        description="Refined estimate for this time, made 20 min later [people].",
    )
    co2: float | None = Field(description="[ppm]")
    co2_smoothed: float | None = Field(description="Smoothed by what was known then [ppm].")
    ventilation: float | None = Field(description="[0..1]")
    quality: Quality


class History(BaseModel):
    """Estimates by time."""

    estimates: list[Estimate] = Field(max_length=MOST_ESTIMATES)
    next: Time | None = Field(description="Ask on with `after` of this; null: that was all.")


class ReadingIn(BaseModel):
    """One reading; other fields of the sensor's may come along and are left."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": [name], "properties": {name: {"type": "number"}}}
                for name in ("co2", "ventilation")
            ],
            "examples": [{"time": _EXAMPLE_TIME, "co2": 612.0, "ventilation": 0.5}],
        }
    )

    time: Time | None = Field(
        default=None, description="Without a zone it is the room's local time; without a time it is now."
    )
    co2: float | None = Field(default=None, description="[ppm]")
    ventilation: float | None = Field(default=None, description="[0..1]")


class Outcome(BaseModel):
    """What became of one reading."""

    time: Time | None = Field(description="When it was measured; null if that cannot be read.")
    outcome: ReadingOutcome
    detail: str | None = Field(default=None, description="What is wrong with it, if its form is.")


class Outcomes(BaseModel):
    """What became of each reading, in their order."""

    outcomes: list[Outcome]


class LabelIn(BaseModel):
    """How many are in, as a person sees it."""

    people: Annotated[int, BeforeValidator(_whole)] = Field(ge=0, le=MOST_PEOPLE, description="[people]")
    time: Time | None = Field(
        default=None, description="Without a zone it is the room's local time; without a time it is now."
    )


class LabelOut(BaseModel):
    """How many were in, as a person entered it."""

    time: Time
    people: int = Field(description="[people]")
    entered: Time


class Labels(BaseModel):
    """A room's labels by time."""

    labels: list[LabelOut]


class ModelEntry(BaseModel):
    """One model of a room."""

    version: int = Field(ge=1, le=MOST_VERSION)
    origin: str = Field(description="From a file, uploaded or trained here.", examples=["file"])
    note: str
    sha256: str
    size: int = Field(description="[bytes]")
    created: Time
    active: bool = Field(description="Whether the room counts by it.")


class Models(BaseModel):
    """A room's models."""

    models: list[ModelEntry]


class Version(BaseModel):
    """The model that the room counts by now."""

    version: int = Field(ge=1, le=MOST_VERSION)


class Score(BaseModel):
    """How a model does on labels kept aside."""

    model_config = ConfigDict(extra="allow")

    rmse: float | None = Field(default=None, description="[people]")
    labels: int | None = Field(default=None, description="How many labels that is.")


class Training(BaseModel):
    """How far a training is."""

    model_config = ConfigDict(extra="allow")

    status: Literal["idle", "running", "done", "failed"]
    progress: float = Field(default=0.0, ge=0, le=1)
    old: Score | None = Field(default=None, description="The model the room counts by.")
    new: Score | None = Field(default=None, description="The new one.")
    message: str = ""


class Login(BaseModel):
    """A token, to be kept in a cookie that scripts cannot read."""

    token: str = Field(min_length=1, max_length=500)


class Me(BaseModel):
    """Caller asks, and what they may do."""

    name: str = Field(description="Name of the token; empty where none is needed.")
    role: Literal["read", "write", "admin"]


class Health(BaseModel):
    """Whether it works."""

    status: Literal["ok", "degraded", "failing"]
    parts: dict[str, str] | None = Field(
        default=None, description="How each part is; only for those who may read.", examples=[{"store": "ok"}]
    )
