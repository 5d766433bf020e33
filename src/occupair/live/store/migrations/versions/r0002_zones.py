"""The time zone in which each room was last estimated."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _text_type() -> sa.Text:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "zones",
        sa.Column("room", _text_type(), primary_key=True),
        sa.Column("timezone", _text_type(), nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("zones")
