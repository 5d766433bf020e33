"""The ventilation column of a file: failed reads, scale, and values as fractions of full ventilation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from occupair.readings.source import Source
from occupair.readings.ventilation_failed_reads import (
    find_failed_reads,
    find_low_failed_reads,
    is_error_value,
)
from occupair.readings.ventilation_scale import NOISE, Scale, describe_mismatch, mismatch_advice
from occupair.readings.ventilation_units import (
    find_scale,
    matching_scale,
    scale_basis,
    stated_unit,
    to_fraction,
)
from occupair.wording import plural

Values = NDArray[np.float64]

SHOWN = 3  # values of failed reads in messages


@dataclass(frozen=True)
class VentilationColumn:
    """Name and unit of the column, and where its values are in the file."""

    name: str
    unit: str  # from a line below the header, or ""
    on_off: bool  # whether it only holds on and off
    fraction_of: Scale | None  # the scale of values that are fractions already, as in ``attrs``
    source: Source
    row_numbers: NDArray[np.int64]


@dataclass(frozen=True)
class FailedReads:
    """Failed reads of the ventilation, which are missing in the readings."""

    count: int
    values: tuple[float, ...]  # up to three of the values, in the unit of the file
    first_row: int  # as in a spreadsheet

    def __str__(self) -> str:
        """Return the number of failed reads with their values."""
        more = ", ..." if self.count > len(self.values) and len(self.values) == SHOWN else ""
        shown = ", ".join(f"{value:.10g}" for value in self.values)
        return f"{plural(self.count, 'failed read')} ({shown}{more}, first in row {self.first_row})"


@dataclass(frozen=True)
class Ventilation:
    """Ventilation as fractions of full, and how they were found."""

    fraction: Values  # [0..1]; NaN where missing, infinite where the read failed
    scale: Scale
    basis: str  # what the value of full ventilation is based on, or ""
    failed: FailedReads | None


def convert_ventilation(
    values: Values, column: VentilationColumn, *, trained_full: float | None, trained_unit: str | None
) -> Ventilation:
    """Return the ventilation of a file as fractions of full.

    Parameters
    ----------
    values : 1-D array
        Ventilation in the unit of the file; NaN is missing.
    column : VentilationColumn
        The column of the values.
    trained_full, trained_unit
        The scale of training, as for ``read_readings``.

    Raises
    ------
    InputError
        If the scale does not match that of training, or more than a few values are out of range.
    """
    own = values
    if column.fraction_of is not None:
        values = values * column.fraction_of.full
    spikes = find_failed_reads(values)
    scale, basis = _scale(np.where(spikes, np.nan, values), column, trained_full, trained_unit)
    if trained_full is None:
        in_range = np.abs(values) <= (1 + NOISE) * scale.full  # rare, but real
        failed = (spikes & ~in_range) | find_low_failed_reads(values, scale)
    else:
        failed = is_error_value(values, scale)
    fraction = to_fraction(
        np.where(failed, np.nan, values),
        scale,
        given=trained_full == scale.full,
        column=column.name,
        source=column.source,
        row_numbers=column.row_numbers,
    )
    if column.fraction_of == scale:
        fraction = np.where(np.isclose(fraction, own, rtol=0, atol=1e-12), own, fraction)  # exact
    fraction = np.where(failed, np.inf, fraction)
    return Ventilation(fraction, scale, basis, _failed_reads(values, failed, column))


def _scale(
    values: Values, column: VentilationColumn, trained_full: float | None, trained_unit: str | None
) -> tuple[Scale, str]:
    """Return the scale, that of training if there is one, and what its full value is based on."""
    own = column.fraction_of or find_scale(values, name=column.name, unit=column.unit, on_off=column.on_off)
    if trained_full is None or (column.on_off and trained_unit is None):
        return own, "" if column.fraction_of else scale_basis(values, own, name=column.name)
    trained = Scale(trained_full, trained_unit or own.unit)
    has_unit = column.fraction_of is not None or stated_unit(column.name, column.unit) is not None
    stated = column.on_off or has_unit
    scale = matching_scale(values, own, trained, stated=stated)
    if scale is None:
        rule = f"{describe_mismatch(own, trained)}: {mismatch_advice(own, trained)}"
        raise column.source.error(rule, column=column.name)
    return scale, "as in training" if scale == trained else ""


def _failed_reads(values: Values, failed: NDArray[np.bool_], column: VentilationColumn) -> FailedReads | None:
    if not failed.any():
        return None
    row = int(column.row_numbers[failed].min()) + column.source.first_row
    return FailedReads(int(failed.sum()), tuple(np.unique(values[failed])[-SHOWN:].tolist()), row)
