"""Who is in the room, minute by minute, and what they are doing there."""

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.co2_generation import SITTING_BUSY, SITTING_QUIETLY, WALKING_SLOWLY
from occupair.simulation.occupants import HOUR, DeskHabit, Meeting, Person, VisitHabit
from occupair.simulation.random_streams import generator

DAY = 24 * HOUR  # [min]
CLOSING = 23 * HOUR + 30  # [min after midnight] nobody is in from here on; Jiang et al. 2016, Section V-B
OPENING = 7 * HOUR  # [min after midnight] nobody comes before; our judgement
LAST_LEAVE = (5.0, 30.0)  # [min] before CLOSING: who would stay longer leaves then
LUNCH_SPREAD = 10.0  # [min] of the start from day to day: colleagues fetch each other
LUNCH_LENGTH_SPREAD = 7.0  # [min] of the length from day to day: queues
DINNER = 18.4 * HOUR  # [min after midnight] who works late eats between 18:00 and 19:00
DINNER_SPREAD = 25.0  # [min] of the start
DINNER_LENGTH = (35.0, 65.0)  # [min] to the canteen and back
ERRAND_LENGTH = (1 * HOUR, 3 * HOUR)  # [min] a class, a seminar, a run in the workshop
BLOCK_SHAPE = 4.0  # [-] of the gamma distribution of a student's block: it varies by half its mean
SHORTEST_BREAK = 2.0  # [min] to the water dispenser and back
MEAN_EXTRA_BREAK = 5.0  # [min] on top: toilet, coffee, a call
BUSY_SHARE = 0.4  # [-] of half hours with talking or handling things rather than quiet typing
SPELL = 30  # [min] an activity lasts
WALK_IN = 3  # [min] the body stays at walking effort after coming in

Minutes = NDArray[np.bool_]


def day_presence(
    people: tuple[Person, ...], meetings: tuple[Meeting, ...], day: int, *, seed: int
) -> NDArray[np.bool_]:
    """Who is in during each minute of calendar ``day`` (0 is a Monday): shape (1440, people).

    Saturdays and Sundays are empty. More days never change the earlier ones.

    Examples
    --------
    >>> from occupair.simulation.occupants import draw_meetings, draw_people
    >>> inside = day_presence(draw_people(0), draw_meetings(0), day=0, seed=0)
    >>> inside.shape, int(inside[:420].sum()), int(inside[CLOSING:].sum())
    ((1440, 35), 0, 0)
    """
    inside = np.zeros((DAY, len(people)), dtype=bool)
    weekday = day % 7
    if weekday < 5:
        for column, person in enumerate(people):
            rng = generator(seed, "presence", day, person.seat)
            inside[:, column] = person_day(person, _meeting_today(person, meetings, weekday), rng)
    return inside


def person_day(person: Person, meeting: Meeting | None, rng: np.random.Generator) -> Minutes:
    """One person's day: True for each of 1440 minutes in which they are in.

    Examples
    --------
    >>> from occupair.simulation.occupants import draw_people
    >>> person_day(draw_people(0)[0], None, np.random.default_rng(0)).shape
    (1440,)
    """
    inside = np.zeros(DAY, dtype=bool)
    if rng.random() >= person.habit.attendance:
        return inside
    if isinstance(person.habit, DeskHabit):
        _desk_day(inside, person.habit, rng)
    else:
        _visits(inside, person.habit, rng)
    if meeting is not None:
        _leave(inside, meeting.start, meeting.length)
    _short_breaks(inside, person.habit.breaks_per_hour, rng)
    inside[CLOSING:] = False
    return inside


def day_activity(inside: NDArray[np.bool_], day: int, *, seed: int) -> NDArray[np.float64]:
    """Effort of each person in each minute [met]: 0 outside, walking just after coming in, else seated.

    Examples
    --------
    >>> day_activity(np.ones((1440, 1), dtype=bool), day=0, seed=0)[:4, 0].tolist()[:3]
    [2.0, 2.0, 2.0]
    """
    rng = generator(seed, "activity", day)
    busy = np.repeat(rng.random((DAY // SPELL, inside.shape[1])) < BUSY_SHARE, SPELL, axis=0)
    met = np.where(busy, SITTING_BUSY, SITTING_QUIETLY)
    came_in = inside & ~_shifted(inside, 1)
    for minute in range(WALK_IN):
        met[_shifted(came_in, minute)] = WALKING_SLOWLY
    return np.where(inside, met, 0.0)


def _desk_day(inside: Minutes, habit: DeskHabit, rng: np.random.Generator) -> None:
    """Fill in arrival to departure, less lunch, dinner and errands."""
    arrival = rng.normal(habit.arrival, habit.spread)
    late = rng.random() < habit.late_share
    leave = rng.normal(habit.late_departure if late else habit.departure, habit.spread)
    _stay(inside, arrival, leave, rng)
    if rng.random() < habit.lunch_out_share:
        _leave(
            inside, rng.normal(habit.lunch, LUNCH_SPREAD), rng.normal(habit.lunch_length, LUNCH_LENGTH_SPREAD)
        )
    if late:
        _leave(inside, rng.normal(DINNER, DINNER_SPREAD), rng.uniform(*DINNER_LENGTH))
    for _ in range(rng.poisson(habit.errands_per_day)):
        _leave(inside, rng.uniform(arrival, habit.departure), rng.uniform(*ERRAND_LENGTH))


def _visits(inside: Minutes, habit: VisitHabit, rng: np.random.Generator) -> None:
    """Fill in a student's blocks of hours; blocks that meet become one."""
    for _ in range(1 + rng.poisson(habit.blocks_per_day - 1)):
        start = rng.normal(habit.start, habit.spread)
        _stay(inside, start, start + rng.gamma(BLOCK_SHAPE, habit.block_length / BLOCK_SHAPE), rng)


def _short_breaks(inside: Minutes, per_hour: float, rng: np.random.Generator) -> None:
    minutes = np.flatnonzero(inside)
    for _ in range(rng.poisson(per_hour * len(minutes) / HOUR)):
        _leave(inside, rng.choice(minutes), SHORTEST_BREAK + rng.exponential(MEAN_EXTRA_BREAK))


def _stay(inside: Minutes, start: float, end: float, rng: np.random.Generator) -> None:
    """Be in from ``start`` to ``end``, but not before opening and out some minutes before closing."""
    closing = CLOSING - rng.uniform(*LAST_LEAVE)
    inside[max(round(start), OPENING) : max(round(min(end, closing)), OPENING)] = True


def _leave(inside: Minutes, start: float, length: float) -> None:
    first = max(round(start), 0)
    inside[first : first + max(round(length), 1)] = False


def _meeting_today(person: Person, meetings: tuple[Meeting, ...], weekday: int) -> Meeting | None:
    if isinstance(person.habit, VisitHabit) or meetings[person.group].weekday != weekday:
        return None
    return meetings[person.group]


def _shifted(inside: NDArray[np.bool_], minutes: int) -> NDArray[np.bool_]:
    """Move the same flags ``minutes`` later, with False coming in at the start."""
    later = np.zeros_like(inside)
    later[minutes:] = inside[: len(inside) - minutes]
    return later
