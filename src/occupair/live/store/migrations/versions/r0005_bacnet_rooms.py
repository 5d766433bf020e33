"""The number of each room in its BACnet objects."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _text_type() -> sa.Text:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bacnet_rooms",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("one_room_per_number", "bacnet_rooms", ["number"], unique=True)


def downgrade() -> None:
    """Drop it."""
    op.drop_table("bacnet_rooms")
