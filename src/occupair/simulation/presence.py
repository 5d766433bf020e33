"""Presence and activity of every person, minute by minute."""

import numpy as np
from numpy.typing import NDArray

from occupair.simulation.co2_generation import SITTING_BUSY, SITTING_QUIETLY, WALKING_SLOWLY
from occupair.simulation.occupants import HOUR, DeskRoutine, Meeting, Person, VisitRoutine
from occupair.simulation.random_streams import generator

DAY = 24 * HOUR  # [min]
CLOSING = 23 * HOUR + 30  # [min after midnight] the room is empty afterwards; Jiang et al. 2016, Section V-B
OPENING = 7 * HOUR  # [min after midnight] earliest arrival; our judgement
LAST_LEAVE = (5.0, 30.0)  # [min] before CLOSING: latest departure
LUNCH_SPREAD = 10.0  # [min] of the start: colleagues go together
LUNCH_LENGTH_SPREAD = 7.0  # [min] of the length: queues
DINNER = 18.4 * HOUR  # [min after midnight] between 18:00 and 19:00 for people working late
DINNER_SPREAD = 25.0  # [min] of the start
DINNER_LENGTH = (35.0, 65.0)  # [min] to the canteen and back
ERRAND_LENGTH = (1 * HOUR, 3 * HOUR)  # [min] a class, a seminar, the workshop
BLOCK_SHAPE = 4.0  # [-] of the gamma distribution of visit lengths: standard deviation of half the mean
SHORTEST_BREAK = 2.0  # [min] to the water dispenser and back
MEAN_EXTRA_BREAK = 5.0  # [min] in addition: toilet, coffee, a call
BUSY_SHARE = 0.4  # [-] fraction of half hours with talking or light work instead of typing
SPELL = 30  # [min] duration of an activity
WALK_IN = 3  # [min] at walking activity after arrival

Minutes = NDArray[np.bool_]


def day_presence(
    people: tuple[Person, ...], meetings: tuple[Meeting, ...], day: int, *, seed: int
) -> NDArray[np.bool_]:
    """Return who is present in each minute of calendar ``day`` (0 is a Monday), shape (1440, people).

    Weekends are empty. Simulating more days does not change the earlier ones.

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
    """Return the presence of one person in each of 1440 minutes.

    Examples
    --------
    >>> from occupair.simulation.occupants import draw_people
    >>> person_day(draw_people(0)[0], None, np.random.default_rng(0)).shape
    (1440,)
    """
    inside = np.zeros(DAY, dtype=bool)
    if rng.random() >= person.routine.attendance:
        return inside
    if isinstance(person.routine, DeskRoutine):
        _desk_day(inside, person.routine, rng)
    else:
        _visits(inside, person.routine, rng)
    if meeting is not None:
        _leave(inside, meeting.start, meeting.length)
    _short_breaks(inside, person.routine.breaks_per_hour, rng)
    inside[CLOSING:] = False
    return inside


def day_activity(inside: NDArray[np.bool_], day: int, *, seed: int) -> NDArray[np.float64]:
    """Return the activity of each person [met]: 0 if absent, walking on arrival, otherwise seated.

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


def _desk_day(inside: Minutes, routine: DeskRoutine, rng: np.random.Generator) -> None:
    """Set presence from arrival to departure, except for lunch, dinner and errands."""
    arrival = rng.normal(routine.arrival, routine.spread)
    late = rng.random() < routine.late_share
    leave = rng.normal(routine.late_departure if late else routine.departure, routine.spread)
    _stay(inside, arrival, leave, rng)
    if rng.random() < routine.lunch_out_share:
        _leave(
            inside,
            rng.normal(routine.lunch, LUNCH_SPREAD),
            rng.normal(routine.lunch_length, LUNCH_LENGTH_SPREAD),
        )
    if late:
        _leave(inside, rng.normal(DINNER, DINNER_SPREAD), rng.uniform(*DINNER_LENGTH))
    for _ in range(rng.poisson(routine.errands_per_day)):
        _leave(inside, rng.uniform(arrival, routine.departure), rng.uniform(*ERRAND_LENGTH))


def _visits(inside: Minutes, routine: VisitRoutine, rng: np.random.Generator) -> None:
    """Set presence during the visits of a student; overlapping visits merge."""
    for _ in range(1 + rng.poisson(routine.blocks_per_day - 1)):
        start = rng.normal(routine.start, routine.spread)
        _stay(inside, start, start + rng.gamma(BLOCK_SHAPE, routine.block_length / BLOCK_SHAPE), rng)


def _short_breaks(inside: Minutes, per_hour: float, rng: np.random.Generator) -> None:
    minutes = np.flatnonzero(inside)
    for _ in range(rng.poisson(per_hour * len(minutes) / HOUR)):
        _leave(inside, rng.choice(minutes), SHORTEST_BREAK + rng.exponential(MEAN_EXTRA_BREAK))


def _stay(inside: Minutes, start: float, end: float, rng: np.random.Generator) -> None:
    """Set presence from ``start`` to ``end``, limited by opening and some minutes before closing."""
    closing = CLOSING - rng.uniform(*LAST_LEAVE)
    inside[max(round(start), OPENING) : max(round(min(end, closing)), OPENING)] = True


def _leave(inside: Minutes, start: float, length: float) -> None:
    first = max(round(start), 0)
    inside[first : first + max(round(length), 1)] = False


def _meeting_today(person: Person, meetings: tuple[Meeting, ...], weekday: int) -> Meeting | None:
    if isinstance(person.routine, VisitRoutine) or meetings[person.group].weekday != weekday:
        return None
    return meetings[person.group]


def _shifted(inside: NDArray[np.bool_], minutes: int) -> NDArray[np.bool_]:
    """Shift the flags by ``minutes``, filling with False."""
    later = np.zeros_like(inside)
    later[minutes:] = inside[: len(inside) - minutes]
    return later
