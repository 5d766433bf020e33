"""Lags at which estimates are refined: the constants that every lag in the package follows from.

The feature group S, the refinements in a model file and the lags of the benchmark derive from
``REFINEMENT_LAGS``; the fields and columns of the live service derive from ``PUBLISHED_LAGS``.
"""

from __future__ import annotations

from collections.abc import Iterable

REFINEMENT_LAGS = (10.0, 20.0)
"""Waiting times after which the estimate of a reading is refined with the readings since then [min].

These are the lags of models trained from now on. To add one, for example 30 min, append it here:
``(10.0, 20.0, 30.0)``. Lags must increase. The feature columns, the look-back window, the balance prior, the
benchmark's lags and the number of refinements in a model file follow. A trained model keeps the lags that it
was trained with (``RoomModel.lags``), so models saved before the change load and give the same estimates.

The live service publishes only ``PUBLISHED_LAGS``: adding a lag here changes neither its interfaces nor its
store.
"""

LAGS = (0.0, *REFINEMENT_LAGS)
"""All lags [min]: the estimate made as the reading arrives, and its refinements."""

PUBLISHED_LAGS = (20.0,)
"""Lags of the refined estimates that the live service publishes and stores [min], out of ``REFINEMENT_LAGS``.

To publish another lag, for example 30 min, append it here as well: ``(20.0, 30.0)``. The HTTP and MQTT
interfaces then have a field ``people_30`` next to ``people_20``, null for models without that lag. The store
needs a migration in ``live/store/migrations/versions`` that adds the column:
``op.add_column("estimates", sa.Column("people_30", sa.Double))``. Announce the field in the change log. To
stop publishing a lag, remove it here and drop its column, which breaks clients that read it.
"""

PUBLISHED_FIELDS = tuple(f"people_{lag:g}" for lag in PUBLISHED_LAGS)
"""Names of these estimates in JSON, and of their columns in the store: ``people_20``."""


def lag_in_readings(lag: float, interval: float) -> int:
    """Count the readings that arrive within ``lag`` minutes, at ``interval`` minutes between readings.

    Examples
    --------
    >>> lag_in_readings(20.0, 5.0), lag_in_readings(10.0, 15.0)
    (4, 0)
    """
    return int(lag / interval + 1e-6)


def lags_in_readings(lags: Iterable[float], interval: float) -> tuple[int, ...]:
    """Return lags [min] as numbers of readings, at ``interval`` minutes between readings.

    Examples
    --------
    >>> lags_in_readings((0.0, 10.0, 20.0), 1.0), lags_in_readings((0.0, 10.0, 20.0), 15.0)
    ((0, 10, 20), (0, 0, 1))
    """
    return tuple(lag_in_readings(lag, interval) for lag in lags)
