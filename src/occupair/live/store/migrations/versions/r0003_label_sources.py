"""How each label was entered, and the estimate at that time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _text_type() -> sa.Text:
    return sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns. Earlier versions did not store whether a label was typed."""
    op.add_column("labels", sa.Column("source", _text_type(), nullable=False, server_default="unknown"))
    op.add_column("labels", sa.Column("estimate", sa.Integer))


def downgrade() -> None:
    """Drop them."""
    for column in ("estimate", "source"):
        op.drop_column("labels", column)
