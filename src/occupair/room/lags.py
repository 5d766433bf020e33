"""Lags at which estimates are refined: the one constant that every lag in the package follows from.

The feature group S, the refinements in the model file, the lags of the benchmark and the refined estimate
that the live service publishes and stores all derive from ``REFINEMENT_LAGS`` and ``PUBLISHED_LAG``.
"""

from __future__ import annotations

from collections.abc import Iterable

REFINEMENT_LAGS = (10.0, 20.0)
"""Waiting times after which the estimate of a reading is refined with the readings since then [min].

These are the lags of models trained from now on. To add one, for example 30 min, append it here:
``(10.0, 20.0, 30.0)``. Lags must increase. The feature columns, the look-back window, the balance prior, the
benchmark's lags and the number of refinements in a model file follow. A trained model keeps the lags that it
was trained with (``RoomModel.lags``), so models saved before the change load and give the same estimates.

The live service publishes one refined estimate, the one at ``PUBLISHED_LAG``, and adding a lag does not
change its interface or its store. To publish another lag, set ``PUBLISHED_LAG`` and add a store migration
in ``live/store/migrations/versions`` that renames the column of the ``estimates`` table, for 30 min:
``op.alter_column("estimates", "people_20", new_column_name="people_30")``. This renames the field
``people_20`` in the HTTP and MQTT interfaces, so announce it in the change log.
"""

LAGS = (0.0, *REFINEMENT_LAGS)
"""All lags [min]: the estimate made as the reading arrives, and its refinements."""

PUBLISHED_LAG = 20.0
"""Lag of the refined estimate in the HTTP, MQTT and store interfaces [min]; one of ``LAGS``."""

PUBLISHED_FIELD = f"people_{PUBLISHED_LAG:g}"
"""Name of that estimate in JSON, and of its column in the store: ``people_20``."""


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
