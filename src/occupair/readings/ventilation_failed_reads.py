"""Failed reads of a ventilation signal: values that a building system writes when a sensor does not answer.

A failed read must not become the value of full ventilation. It differs from a rare but real value in being a
known error value, such as 65535, or in standing alone: a fan that runs at full speed 1 % of the time does so
for several readings in a row, or repeatedly at much the same flow. Once the scale is known from training,
each value is judged by itself, so that no later reading changes an estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from occupair.readings.ventilation_scale import NOISE, Scale

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

ERROR_VALUES = np.unique(
    [
        top / tens
        for top in (2**15 - 1, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1)
        for tens in (1, 10, 100)
    ]
    + [10.0**digits - 1 for digits in range(4, 10)]
)
"""Limits of 16- and 32-bit integers, also with one or two decimals, and 9999 to 999999999."""
LOW_ERROR_VALUES = np.r_[-ERROR_VALUES, -1.0]
FAR = 3.0
"""A value alone is a failed read if it is more than this many times as large as all others."""
LONGEST_SPIKE = 2  # readings in a row
SIMILAR_RUNS, SIMILAR = 3, 1.2  # this many runs within this ratio are a level of the fan, not failed reads
MIN_READINGS = 20  # with fewer, nothing is rare
RARE = 0.01  # of the readings


def is_rare(invalid: Mask, known: Mask) -> bool:
    """Whether so few readings are invalid that they count as missing; otherwise the column is wrong.

    Examples
    --------
    >>> one_of = lambda n: (np.arange(n) == 0, np.ones(n, dtype=bool))
    >>> is_rare(*one_of(3)), is_rare(*one_of(96))
    (False, True)
    """
    n = int(known.sum())
    return n >= MIN_READINGS and int(invalid.sum()) <= max(1, int(RARE * n))


def find_failed_reads(values: Values) -> Mask:
    """Whether each value is far above all others, perhaps because a read failed, whatever the unit.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file, in the order of time; NaN is missing.

    Examples
    --------
    >>> values = np.tile([0.0, 2400.0, 4800.0, 4750.0], 25)
    >>> values[[7, 50]] = 65535.0, 6553.5
    >>> np.flatnonzero(find_failed_reads(values)).tolist()
    [7, 50]
    """
    failed = np.isinf(values)
    if not is_rare(failed, ~np.isnan(values)):
        failed = np.zeros_like(failed)
    failed |= _error_values(np.where(failed, np.nan, values))
    while (spike := _top_spike(np.where(failed, np.nan, values))) is not None:
        failed |= spike
    return failed


def is_error_value(values: Values, scale: Scale) -> Mask:
    """Whether each value is infinite or an error value outside the range of a known scale.

    Examples
    --------
    >>> is_error_value(np.array([4800.0, 9000.0, 65535.0, -1.0, -32768.0]), Scale(4800.0, "m3/h")).tolist()
    [False, False, True, False, True]
    """
    high = np.isin(values, ERROR_VALUES) & (values > (1 + NOISE) * scale.full)
    low = np.isin(values, LOW_ERROR_VALUES) & (values < -NOISE * scale.full)
    return np.asarray(np.isinf(values) | high | low)


def find_low_failed_reads(values: Values, scale: Scale) -> Mask:
    """Whether each value is -1 or another error value below 0, and not noise of ventilation that is off.

    -1 m3/h may be noise, unless it lasts for one or two readings while the ventilation is on.

    Examples
    --------
    >>> values = np.repeat([4800.0, 0.0], 100)
    >>> values[[50, 150]] = -1.0
    >>> np.flatnonzero(find_low_failed_reads(values, Scale(4800.0, "m3/h"))).tolist()
    [50]
    """
    known = np.flatnonzero(~np.isnan(values))
    code = np.isin(values[known], LOW_ERROR_VALUES)
    failed = np.zeros(values.size, dtype=bool)
    if is_rare(code, np.ones_like(code)):
        on = np.r_[False, values[known] > NOISE * scale.full, False]
        spikes = [slice(*run) for run in _runs(code) if on[run[0]] and on[run[1] + 1]]
        for spike in spikes:
            failed[known[spike]] = spike.stop - spike.start <= LONGEST_SPIKE
        failed[known] |= code & (values[known] < -NOISE * scale.full)
    return failed


def _error_values(values: Values) -> Mask:
    """Whether each value is one of ``ERROR_VALUES`` and above all others by more than noise."""
    code = np.isin(values, ERROR_VALUES)
    others = values[~code & ~np.isnan(values)]
    highest = float(others.max(initial=0.0))
    failed = code & (values > (1 + NOISE) * highest)
    most = 0.5 if highest > 0 else RARE  # raw counts of 0 and 32767 may be off and on
    return failed if failed.sum() <= most * (code.sum() + others.size) else np.zeros_like(failed)


def _top_spike(values: Values) -> Mask | None:
    """Return the highest values if they are far above the others and stand alone, else None."""
    levels = np.unique(values[values > 0])
    far = np.flatnonzero(levels[1:] > FAR * levels[:-1])
    if not far.size:
        return None
    high = values > levels[far[-1]]
    known = ~np.isnan(values)
    runs = _runs(high[known])
    top = values[high]
    alone = max(stop - start for start, stop in runs) <= LONGEST_SPIKE
    level = len(runs) >= SIMILAR_RUNS and top.max() <= SIMILAR * top.min()
    return high if alone and not level and is_rare(high, known) else None


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """Return the start and the stop of each run of True."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False]))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
