"""Vacations of the people of the office, by weeks.

Everybody has five weeks a year: two or three in summer, one or two at the turn of the year, and the rest at
any other time. The sum is close to the 5.6 weeks of the United Kingdom (Working Time Regulations 1998), which
include public holidays; how the weeks are spread is our judgement.
"""

import datetime as dt
from functools import cache

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.random_streams import generator

WEEKS = 5  # [weeks] a year and person
SUMMER_STARTS = range(27, 34)  # calendar weeks of July and early August, in which the summer vacation starts
OTHER_WEEKS = (*range(3, 27), *range(37, 51))  # calendar weeks outside of both seasons
YEAR_END = 52  # calendar week of Christmas; a second week follows it


def on_vacation(date: dt.date, n_people: int, *, seed: int) -> NDArray[np.bool_]:
    """Return who of ``n_people`` is on vacation on a date.

    Examples
    --------
    >>> days = [dt.date(2016, 1, 4) + dt.timedelta(days=day) for day in range(52 * 7)]
    >>> absent = np.array([on_vacation(day, 35, seed=0) for day in days])
    >>> int(absent.sum(axis=0).min()), int(absent.sum(axis=0).max())
    (28, 35)
    """
    year, week, _ = date.isocalendar()
    off: NDArray[np.bool_] = _weeks_off(year, n_people, seed)[week - 1].copy()
    weeks_before = dt.date(year - 1, 12, 28).isocalendar().week  # 52 or 53
    if week == 1 and weeks_before == YEAR_END:
        off |= _weeks_off(year - 1, n_people, seed)[YEAR_END]
    return off


@cache
def _weeks_off(year: int, n_people: int, seed: int) -> NDArray[np.bool_]:
    """Return the vacation weeks of each person, shape (53, people); the last row follows week 52."""
    off = np.zeros((53, n_people), dtype=bool)
    for person in range(n_people):
        rng = generator(seed, "vacations", year, person)
        summer, turn = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        start = int(rng.choice(SUMMER_STARTS))
        others = rng.choice(OTHER_WEEKS, WEEKS - summer - turn, replace=False)
        off[start - 1 : start - 1 + summer, person] = True
        off[YEAR_END - 1 : YEAR_END - 1 + turn, person] = True
        off[others - 1, person] = True
    return off
