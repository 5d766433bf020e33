"""What ``occupair prove`` does, without the command line."""

from __future__ import annotations

from collections.abc import Sequence

from occupair.benchmark.command import rooms_called
from occupair.benchmark.coverage import coverage
from occupair.benchmark.few_days import few_days
from occupair.benchmark.validation_tables import Proofs, as_markdown
from occupair.benchmark.validation_tables import as_json as json_of
from occupair.progress import stage
from occupair.readings.schema import date_slices

ROOMS = ("sdu2018-1", "sdu2018-2", "sdu2018-3", "sdu2018-4", "sdu2019-1", "robod-1", "robod-3")
"""Public rooms with ventilation readings, whose models can start one another."""


def prove(rooms: Sequence[str] = (), *, as_json: bool = False) -> str:
    """Measure on public rooms how often the ranges hold, and how few labelled days are enough.

    Parameters
    ----------
    rooms : sequence of str
        Names in ``occupair.datasets.ROOMS``; ``ROOMS`` when none is named.
    as_json : bool
        JSON instead of Markdown.

    Raises
    ------
    InputError
        For rooms there are not, and a room whose data are not on this machine.
    """
    readings = rooms_called(rooms or ROOMS)
    with stage("how often ranges hold", 0.0, 0.2):
        ranges = coverage(readings)
    with stage("how few days are enough", 0.2, 1.0):
        few = few_days(readings)
    proofs = Proofs({name: len(date_slices(room)) for name, room in readings.items()}, ranges, few)
    return json_of(proofs) if as_json else as_markdown(proofs)
