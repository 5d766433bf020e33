"""The tables of a store. A change here needs a revision in `migrations/versions`; a test compares the two.

Times are whole microseconds since 1970 in UTC, so that both databases keep them alike; text is compared by
its code points, so that both sort alike. What is not known is NULL, never NaN, which SQLite has no place for.
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

from occupair.room.lags import PUBLISHED_FIELD

metadata = MetaData()


def _words() -> Text:
    return Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


readings = Table(
    "readings",
    metadata,
    Column("room", _words(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("co2", Double),
    Column("ventilation", Double),
    Column("source", _words(), nullable=False),
    Column("received", BigInteger, nullable=False),
    sqlite_with_rowid=False,  # rows lie in the order they are read in
)

estimates = Table(
    "estimates",
    metadata,
    Column("room", _words(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("people", Double),
    Column("low", Double),
    Column("high", Double),
    Column(PUBLISHED_FIELD, Double),
    Column("co2", Double),
    Column("co2_smoothed", Double),
    Column("ventilation", Double),
    Column("quality", _words(), nullable=False),
    sqlite_with_rowid=False,
)

labels = Table(
    "labels",
    metadata,
    Column("room", _words(), primary_key=True),
    Column("time", BigInteger, primary_key=True, autoincrement=False),
    Column("people", Integer, nullable=False),
    Column("entered", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

models = Table(
    "models",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("room", _words(), nullable=False),
    Column("origin", _words(), nullable=False),
    Column("note", _words(), nullable=False),
    Column("sha256", _words(), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_autoincrement=True,  # the number of a model that is gone is not given again
)
Index("models_of_room", models.c.room, models.c.id)
_ACTIVE = text("active")
Index("one_active_model", models.c.room, unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE)

zones = Table(
    "zones",
    metadata,
    Column("room", _words(), primary_key=True),
    Column("timezone", _words(), nullable=False),  # where midnight was when it was last estimated
    sqlite_with_rowid=False,
)
