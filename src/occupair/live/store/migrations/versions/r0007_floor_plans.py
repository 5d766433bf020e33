"""Floor plans, and the places of rooms on them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def _text_type() -> sa.Text:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "plans",
        sa.Column("floor", _text_type(), primary_key=True),
        sa.Column("media_type", _text_type(), nullable=False),
        sa.Column("width", sa.Double, nullable=False),
        sa.Column("height", sa.Double, nullable=False),
        sa.Column("sha256", _text_type(), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "places",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("x", sa.Double, nullable=False),
        sa.Column("y", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("places")
    op.drop_table("plans")
