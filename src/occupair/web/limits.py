"""Default limits of the web services."""

from __future__ import annotations

BODY_BYTES = 1_000_000
"""Maximum size of a request body [bytes]."""
