"""Validation on public rooms, as run by ``occupair validate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from occupair.benchmark.coverage import coverage
from occupair.benchmark.few_labelled_days import few_days
from occupair.benchmark.validation_tables import Validation, as_markdown
from occupair.benchmark.validation_tables import as_json as json_of
from occupair.datasets import read_rooms
from occupair.progress import stage
from occupair.readings.schema import date_slices


def validate(rooms: Sequence[str] = (), *, as_json: bool = False) -> str:
    """Measure interval coverage and accuracy with few labelled days on public rooms.

    Parameters
    ----------
    rooms : sequence of str
        Names in ``occupair.datasets.ROOMS``; default: ``BENCHMARK_ROOMS``, whose models can share a prior.
    as_json : bool
        Return JSON instead of Markdown.

    Raises
    ------
    InputError
        For an unknown room, or a room whose data are missing.
    """
    validation = measure(read_rooms(rooms))
    return json_of(validation) if as_json else as_markdown(validation)


def measure(rooms: Mapping[str, pd.DataFrame]) -> Validation:
    """Run both studies on the labelled readings of rooms, by room name."""
    with stage("interval coverage", 0.0, 0.2):
        intervals = coverage(rooms)
    with stage("few labelled days", 0.2, 1.0):
        few = few_days(rooms)
    return Validation({name: len(date_slices(room)) for name, room in rooms.items()}, intervals, few)
