"""Readings of optional sensors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_SENSORS = ("temperature", "humidity", "sound", "light", "wifi", "power", "motion")


def upgrade() -> None:
    """Add the columns. Earlier versions did not store these sensors."""
    for name in _SENSORS:
        op.add_column("readings", sa.Column(name, sa.Double))


def downgrade() -> None:
    """Drop them."""
    for name in reversed(_SENSORS):
        op.drop_column("readings", name)
