"""The first tables: readings, estimates, labels, models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _text_type() -> sa.Text:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "readings",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("time", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("co2", sa.Double),
        sa.Column("ventilation", sa.Double),
        sa.Column("source", _text_type(), nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "estimates",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("time", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("people", sa.Double),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("people_20", sa.Double),
        sa.Column("co2", sa.Double),
        sa.Column("co2_smoothed", sa.Double),
        sa.Column("ventilation", sa.Double),
        sa.Column("quality", _text_type(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "labels",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("time", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("people", sa.Integer, nullable=False),
        sa.Column("entered", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "models",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("room", _text_type(), nullable=False),
        sa.Column("origin", _text_type(), nullable=False),
        sa.Column("note", _text_type(), nullable=False),
        sa.Column("sha256", _text_type(), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("models_of_room", "models", ["room", "id"])
    active = sa.text("active")
    op.create_index(
        "one_active_model", "models", ["room"], unique=True, sqlite_where=active, postgresql_where=active
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in ("models", "labels", "estimates", "readings"):
        op.drop_table(table)
