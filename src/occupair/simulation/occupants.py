"""The people of the office: seats, metabolic rates and daily routines.

Times of day are minutes after midnight [min]. The ranges below are our assumptions for a university
office, consistent with the description in Jiang et al. 2016 (24 desks, 11 open seats of which five are
rarely used, at most 28 people in 25 days, nobody after 23:30).
"""

from dataclasses import dataclass

import numpy as np

from occupair.simulation.co2_generation import basal_metabolic_rate
from occupair.simulation.paper_room import CORNER_SEATS, DESKS, OPEN_SEATS, zone_of_seat
from occupair.simulation.random_streams import generator

HOUR = 60  # [min]
GROUP_SIZE = 6  # [people] a research group with common meetings
SHARE_OF_MEN = 0.7  # [-] an engineering school
BODY_MASS = {True: (69.0, 10.0), False: (56.0, 8.0)}
# [kg] mean and standard deviation of men and women: 1.71 m at 23.5 kg/m2 and 1.59 m at 22 kg/m2, young
# adults in Singapore; Persily and de Jonge 2017 use 85 and 72 kg for the United States
BMR_SPREAD = 0.6  # [MJ/day] at equal body mass; close to the standard error of Schofield's regression


@dataclass(frozen=True)
class DeskRoutine:
    """Daily routine of a person with an assigned desk.

    Attributes
    ----------
    attendance : probability of presence on a weekday [0..1]
    arrival, departure : usual times [min after midnight]
    spread : standard deviation of both between days [min]
    lunch, lunch_length : usual start [min after midnight] and length [min] of lunch
    lunch_out_share : probability of lunch outside the room [0..1]
    late_share : probability of returning after dinner [0..1]
    late_departure : usual departure in that case [min after midnight]
    breaks_per_hour : short breaks outside the room [1/h]
    errands_per_day : absences of one to three hours, e.g. for teaching [1/day]
    """

    attendance: float
    arrival: float
    departure: float
    spread: float
    lunch: float
    lunch_length: float
    lunch_out_share: float
    late_share: float
    late_departure: float
    breaks_per_hour: float
    errands_per_day: float


@dataclass(frozen=True)
class VisitRoutine:
    """Daily routine of a student without an assigned desk: visits of a few hours.

    Attributes
    ----------
    attendance : probability of presence on a weekday [0..1]
    start : usual start of a visit [min after midnight]
    spread : its standard deviation [min]
    block_length : mean length of a visit [min]
    blocks_per_day : mean number of visits on a day of presence [1/day], at least 1
    breaks_per_hour : short breaks outside the room [1/h]
    """

    attendance: float
    start: float
    spread: float
    block_length: float
    blocks_per_day: float
    breaks_per_hour: float


@dataclass(frozen=True)
class Person:
    """A person: seat, zone of the room, group, basal metabolic rate ``bmr`` [MJ/day] and routine."""

    seat: int
    zone: int
    group: int
    bmr: float
    routine: DeskRoutine | VisitRoutine


@dataclass(frozen=True)
class Meeting:
    """A weekly group meeting in another room: ``weekday`` (0 is Monday), ``start`` and ``length`` [min]."""

    weekday: int
    start: int
    length: int


def draw_people(seed: int) -> tuple[Person, ...]:
    """Draw the person of every seat: desks first, then open seats, the rarely used corner last.

    Examples
    --------
    >>> people = draw_people(seed=0)
    >>> len(people), people[0].seat, people[-1].seat
    (35, 0, 34)
    """
    return tuple(_person(seat, generator(seed, "people", seat)) for seat in range(DESKS + OPEN_SEATS))


def draw_meetings(seed: int) -> tuple[Meeting, ...]:
    """Draw one weekly meeting for each group.

    Examples
    --------
    >>> len(draw_meetings(seed=0))
    4
    """
    return tuple(
        _meeting(generator(seed, "people", DESKS + OPEN_SEATS + group))
        for group in range(DESKS // GROUP_SIZE)
    )


def _person(seat: int, rng: np.random.Generator) -> Person:
    male = bool(rng.random() < SHARE_OF_MEN)
    mean, spread = BODY_MASS[male]
    mass = _normal(rng, mean, spread, mean - 2 * spread, mean + 3 * spread)
    bmr = basal_metabolic_rate(mass, male=male) + _normal(rng, 0.0, BMR_SPREAD, -1.5, 1.5)
    routine = _desk_routine(rng) if seat < DESKS else _visit_routine(rng, corner=seat in CORNER_SEATS)
    return Person(seat, zone_of_seat(seat), seat // GROUP_SIZE, bmr, routine)


def _desk_routine(rng: np.random.Generator) -> DeskRoutine:
    works_late = rng.random() < 0.25  # one in four often works late
    return DeskRoutine(
        attendance=rng.uniform(0.7, 0.98),
        arrival=_normal(rng, 9.5 * HOUR, 50, 7.6 * HOUR, 12 * HOUR),
        departure=_normal(rng, 18.5 * HOUR, 60, 16.5 * HOUR, 21 * HOUR),
        spread=rng.uniform(10, 45),
        lunch=_normal(rng, 12.3 * HOUR, 25, 11.5 * HOUR, 13.5 * HOUR),
        lunch_length=rng.uniform(35, 70),
        lunch_out_share=rng.uniform(0.6, 1.0),
        late_share=rng.uniform(0.4, 0.85) if works_late else rng.uniform(0.0, 0.1),
        late_departure=_normal(rng, 22.3 * HOUR, 40, 20.5 * HOUR, 23.2 * HOUR),
        breaks_per_hour=rng.uniform(0.3, 1.0),
        errands_per_day=rng.uniform(0.1, 0.6),
    )


def _visit_routine(rng: np.random.Generator, *, corner: bool) -> VisitRoutine:
    return VisitRoutine(
        attendance=rng.uniform(0.02, 0.08) if corner else rng.uniform(0.45, 0.85),
        start=_normal(rng, 13.5 * HOUR, 90, 10 * HOUR, 18 * HOUR),
        spread=rng.uniform(60, 150),
        block_length=rng.uniform(75, 200),
        blocks_per_day=rng.uniform(1.0, 2.0),
        breaks_per_hour=rng.uniform(0.3, 1.2),
    )


def _meeting(rng: np.random.Generator) -> Meeting:
    start = int(rng.choice([10, 11, 14, 15, 16])) * HOUR
    return Meeting(weekday=int(rng.integers(5)), start=start, length=int(rng.choice([60, 90])))


def _normal(rng: np.random.Generator, mean: float, spread: float, low: float, high: float) -> float:
    """Draw from a normal distribution, clipped to ``low`` and ``high``."""
    return float(np.clip(rng.normal(mean, spread), low, high))
