"""The tables of a store. A change here needs a revision in `migrations/versions`; a test compares the two.

Times are integer microseconds since 1970 in UTC and text is sorted by code point, so that both databases
store and sort alike. Unknown values are NULL, never NaN, which SQLite does not have. The descriptions of
tables are part of the reference of the documentation.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects import postgresql

from occupair.readings.other_sensors import SENSORS
from occupair.room.lags import PUBLISHED_FIELDS

metadata = MetaData()


def _text_type() -> Text:
    return Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


readings = Table(
    "readings",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("co2", Double),
    Column("ventilation", Double),
    Column("source", _text_type(), nullable=False),
    Column("received", BigInteger, nullable=False),
    *(Column(name, Double) for name in SENSORS),
    sqlite_with_rowid=False,  # rows are stored in the order in which they are read
    info={"description": "Readings as received: CO2 [ppm], ventilation [0..1], and optional sensors."},
)

estimates = Table(
    "estimates",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("people", Double),
    Column("low", Double),
    Column("high", Double),
    *(Column(name, Double) for name in PUBLISHED_FIELDS),
    Column("co2", Double),
    Column("co2_smoothed", Double),
    Column("ventilation", Double),
    Column("quality", _text_type(), nullable=False),
    sqlite_with_rowid=False,
    info={"description": "Estimates by room and grid time [people], with the CO2 they were made from [ppm]."},
)

labels = Table(
    "labels",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("people", Integer, nullable=False),
    Column("entered", BigInteger, nullable=False),
    Column("source", _text_type(), nullable=False, server_default="unknown"),
    Column("estimate", Integer),
    sqlite_with_rowid=False,
    info={"description": "Head counts [people], when they were entered, and the estimate at that time."},
)

models = Table(
    "models",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("room", _text_type(), nullable=False),
    Column("origin", _text_type(), nullable=False),
    Column("note", _text_type(), nullable=False),
    Column("sha256", _text_type(), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_autoincrement=True,  # ids of deleted models are not reused
    info={"description": "All versions of the model files of rooms, and which one is active."},
)
Index("models_of_room", models.c.room, models.c.id)
_ACTIVE = text("active")
Index("one_active_model", models.c.room, unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE)

zones = Table(
    "zones",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("timezone", _text_type(), nullable=False),  # of its newest estimates
    sqlite_with_rowid=False,
    info={"description": "Time zone of the newest estimates of each room."},
)

bacnet_rooms = Table(
    "bacnet_rooms",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("number", Integer, nullable=False),  # of its BACnet objects; rows are never deleted
    sqlite_with_rowid=False,
    info={"description": "Permanent number of each room, which its BACnet instance numbers are based on."},
)
Index("one_room_per_number", bacnet_rooms.c.number, unique=True)

shards = Table(
    "shards",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("count", Integer, nullable=False),
    Column("run", BigInteger, nullable=False),  # when it started, by the clock of the database
    Column("address", _text_type(), nullable=False),  # HOST:PORT
    Column("seen", BigInteger, nullable=False),  # its last heartbeat, by the clock of the database
    info={
        "description": "Services that share the store: when each started, its address and its last heartbeat."
    },
)

room_states = Table(
    "room_states",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("run", BigInteger, nullable=False),  # of the shard that wrote it
    Column("state", _text_type(), nullable=False),  # JSON, see `state_rows`
    sqlite_with_rowid=False,
    info={"description": "Current state of each room as JSON, for other shards."},
)

plans = Table(
    "plans",
    metadata,
    Column("floor", _text_type(), primary_key=True),
    Column("media_type", _text_type(), nullable=False),
    Column("width", Double, nullable=False),
    Column("height", Double, nullable=False),
    Column("sha256", _text_type(), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
    info={"description": "Floor plans, as uploaded."},
)

places = Table(
    "places",
    metadata,
    Column("room", _text_type(), primary_key=True),
    Column("x", Double, nullable=False),  # from the left of the plan of its floor [0..1]
    Column("y", Double, nullable=False),  # from the top
    sqlite_with_rowid=False,
    info={
        "description": "Place of each room on the plan of its floor, from the left and from the top [0..1]."
    },
)
