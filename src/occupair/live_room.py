"""One room between two readings: the estimator run on its own past estimates, Eqs. (21)-(26).

A day with hindsight is one ``Network.run`` over the whole day. A live day is such a run after every reading;
``occupair.paper.live_kernel`` gives what it would give without running all of it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import RandomLayer, sigmoid_in_place
from occupair.errors import InputError
from occupair.paper.features import Layer
from occupair.smoothing import LocalSmoother

if TYPE_CHECKING:
    from occupair.paper.live_kernel import Revision, Weights

Array = NDArray[np.float64]

TOLERANCE = 1e-6
"""How far the live estimates of Eq. (26) may be from the equation written out [people]."""


class Estimate(NamedTuple):
    """What a room says after a reading."""

    time: dt.datetime
    people: float  # unrounded [people]
    low: float | None  # a range that holds the true count [people]; None: this model knows none
    high: float | None
    quality: str  # "ok", or "starting" while little has been seen of the day or since a gap


@dataclass(frozen=True)
class Network:
    """A trained estimator, taken apart into what is known of a reading and what is fed back.

    z_k = RS y_k + b, Eq. (9), is a sum: the part of CO2, ventilation and bias is known for all readings
    at once, and only the part of the past estimates has to be added one reading after the other.
    Networks that were drawn from one seed share R in memory; a room of its own has S and beta only.
    """

    layer: Layer
    smoothing: float  # lambda [readings squared]
    most_people: float  # upper clamp [people]
    random: RandomLayer  # R and b
    scale: dict[str, float]  # of each group of columns: the diagonal of S, Eq. (12)
    coef: Array  # beta
    lean: bool = False  # whether to hold only what other networks cannot share, at some 20 % of the speed

    def run(self, co2: Array, ventilation: Array, people: Array, *, start: int) -> None:
        """Estimate readings ``start`` to the last in place, from the estimates before ``start``.

        Eq. (16) on estimated past occupancy, which is (21), (22), (24) or (26) by the CO2 it is given.
        Each estimate is clamped to [0, most people] before the next one builds on it. The arrays begin
        at the same reading; ``start`` is at least the horizon.
        """
        horizon = self.layer.horizon
        first = start - horizon
        known = self.known_input(co2[first:], ventilation[first:])
        if not self.feeds_back:  # all readings at once
            people[start:] = np.clip(sigmoid_in_place(known) @ self.coef, 0.0, self.most_people)
            return
        feedback, z = self.weights_of("o"), np.empty(self.coef.size)
        for k, row in enumerate(known, start=start):
            np.dot(people[k - horizon : k], feedback, out=z)
            z += row
            people[k] = min(max(float(sigmoid_in_place(z) @ self.coef), 0.0), self.most_people)

    def known_input(self, co2: Array, ventilation: Array) -> Array:
        """z_k without the past occupancy, one row per reading from the horizon on."""
        groups = self.layer.groups(co2, np.zeros(co2.size), ventilation)
        known = [name for name in groups if name != "o"]
        columns = np.hstack([groups[name] for name in known])
        return np.asarray(columns @ np.vstack([self.weights_of(name) for name in known]) + self.random.bias)

    @property
    def feeds_back(self) -> bool:
        """Whether past estimates matter."""
        return self.scale["o"] != 0

    def weights_of(self, group: str) -> Array:
        """Give the rows of RS that multiply a group of columns."""
        return self.random.weights[self.layer.places()[group]] * self.scale[group]

    @cached_property
    def live_weights(self) -> Weights:
        """The same as ``occupair.paper.live_kernel`` reads it."""
        from occupair.paper.live_kernel import live_weights

        return live_weights(self)


class LiveDay:
    """A room from midnight on: takes readings one by one and keeps the estimates of the day.

    Parameters
    ----------
    network : Network
        The trained estimator.
    revise : bool
        True runs the three steps of Jiang et al. 2016, Eq. (26): after every reading, all estimates of
        the day follow the newly smoothed CO2; see ``occupair.paper.live_kernel``. False is Eq. (24):
        estimates once given are fed back for ever, and their errors add up.
    tolerance : float
        How far an estimate may be from that of Eq. (26) written out [people]. 0 computes again all that
        changes at all; the more, the faster (docs/speed.md).
    """

    def __init__(self, network: Network, *, revise: bool = True, tolerance: float = TOLERANCE) -> None:
        if not (_is_number(tolerance) and 0 <= tolerance < math.inf):
            raise InputError(f"tolerance must be a number of people, 0 or more, got {tolerance!r}")
        self._horizon = network.layer.horizon
        self._day: _Rerun | Revision
        if revise and network.feeds_back:
            from occupair.paper.live_kernel import (  # here, because compiled code takes its time
                Revision,
                warm_up,
            )

            warm_up()
            self._day = Revision(network, tolerance=tolerance)
        else:
            self._day = _Rerun(network, revise=revise)

    def append(self, co2: float, ventilation: float, time: dt.datetime | None = None) -> None:
        """Take the next reading [ppm], [0..1] and estimate anew what it changes; the time does not matter."""
        self._day.append(co2, ventilation)

    def __len__(self) -> int:
        return len(self._day)

    @property
    def started(self) -> bool:
        """Whether a whole horizon has been seen."""
        return len(self) > self._horizon

    @property
    def range(self) -> None:
        """How sure the last estimate is: the paper does not say."""
        return

    def resume(self, co2: Array, ventilation: Array, times: Sequence[dt.datetime]) -> None:
        """Become the day that took these readings, in less time than they would take one by one."""
        self._day.resume(co2, ventilation)

    def copy(self) -> LiveDay:
        """Give the day as it is now, to go on with on its own; what was trained is shared."""
        other = copy(self)
        other._day = self._day.copy()
        return other

    @property
    def people(self) -> Array:
        """What is now thought of every reading of the day [people]: Eq. (26), step 2. Read, do not write."""
        return self._day.people

    @property
    def co2_smoothed(self) -> Array:
        """The locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._day.co2_smoothed

    @property
    def co2_now(self) -> float:
        """The last of them [ppm]."""
        return self._day.co2_now


class _Rerun:
    """A day in which nothing that is thought again is fed back: Eq. (24), or a network without feedback."""

    def __init__(self, network: Network, *, revise: bool) -> None:
        self._network = network
        self._revise = revise
        self._smoother = LocalSmoother(network.smoothing)
        self._ventilation = np.zeros(1024)
        self._people = np.zeros(1024)  # the room is empty in the first horizon of the day

    def append(self, co2: float, ventilation: float) -> None:
        """Take the next reading and run the network over what it changes, or over itself alone."""
        changed = self._smoother.append(co2)
        last = len(self._smoother) - 1
        if last == self._people.size:
            self._ventilation = np.append(self._ventilation, np.zeros(last))
            self._people = np.append(self._people, np.zeros(last))
        self._ventilation[last] = ventilation
        horizon = self._network.layer.horizon
        if last >= horizon:
            start = max(changed, horizon) if self._revise else last
            first = start - horizon
            self._network.run(
                self._smoother.since(first),
                self._ventilation[first : last + 1],
                self._people[first : last + 1],
                start=horizon,
            )

    def __len__(self) -> int:
        return len(self._smoother)

    def resume(self, co2: Array, ventilation: Array) -> None:
        for reading in zip(co2.tolist(), ventilation.tolist(), strict=True):
            self.append(*reading)

    def copy(self) -> _Rerun:
        other = copy(self)
        other._smoother = deepcopy(self._smoother)
        other._ventilation, other._people = self._ventilation.copy(), self._people.copy()
        return other

    @property
    def people(self) -> Array:
        return self._people[: len(self)]

    @property
    def co2_smoothed(self) -> Array:
        return self._smoother.values

    @property
    def co2_now(self) -> float:
        return self._smoother.newest


class RunningDay(Protocol):
    """What an estimator keeps of a room from midnight, or from the end of a gap, on."""

    def append(self, co2: float, ventilation: float, time: dt.datetime) -> None:
        """Take the next reading [ppm], [0..1]."""

    def __len__(self) -> int:
        """Count the readings taken."""

    def resume(self, co2: Array, ventilation: Array, times: Sequence[dt.datetime]) -> None:
        """Take the first readings of the day, all at once."""

    def copy(self) -> Self:
        """Give the day as it is now, to go on with on its own."""

    @property
    def started(self) -> bool:
        """Whether enough has been seen to estimate."""

    @property
    def range(self) -> tuple[float, float] | None:
        """A range that holds the true count now [people], where one is known."""

    @property
    def people(self) -> Array:
        """What is now thought of every reading [people]."""

    @property
    def co2_smoothed(self) -> Array:
        """CO2 of every reading, smoothed by what is known now [ppm]."""

    @property
    def co2_now(self) -> float:
        """The last of them [ppm]."""


class LiveRoom:
    """One room, live: feed it every reading as it comes.

    Each local day starts anew with an empty room, at the midnight of the times it is given; a reading
    of a new date resets it, whatever came before, and so does one after a gap: no estimate reaches across
    what was not measured.

    Parameters
    ----------
    start_day : callable
        Gives the trained estimator's empty day.
    interval : float
        Time between readings [min].
    uses_ventilation : bool
        Whether the estimator was trained with a ventilation column; if not, ventilation is ignored.
    """

    def __init__(
        self, start_day: Callable[[], RunningDay], *, interval: float, uses_ventilation: bool
    ) -> None:
        self._start_day = start_day
        self.interval = interval
        self.uses_ventilation = uses_ventilation
        self._last: dt.datetime | None = None
        self.day = start_day()

    def update(self, time: dt.datetime, co2: float, ventilation: float | None = None) -> Estimate:
        """Take one reading and estimate the people in the room now.

        Parameters
        ----------
        time : datetime
            Local time, or aware of its zone; one interval after the reading before it, or whole ones after
            a gap, or on a later day.
        co2 : float
            CO2 [ppm].
        ventilation : float
            Ventilation [0..1]; needed if the estimator was trained with it.

        Raises
        ------
        InputError
            When the reading breaks a rule; the room is then as it was before.
        """
        flow = self.begin(time, co2, ventilation)
        self.day.append(co2, flow, time)
        return self.end(time)

    def begin(self, time: dt.datetime, co2: float, ventilation: float | None) -> float:
        """Check a reading and begin the day that it is of; the ventilation that ``day`` is then to take."""
        flow = self._checked(time, co2, ventilation)
        if self._starts_anew(time) and len(self.day):
            self.day = self._start_day()
        return flow

    def end(self, time: dt.datetime) -> Estimate:
        """Say what ``day`` says once it has taken the reading of this time."""
        self._last = time
        low, high = self.day.range or (None, None)
        quality = "ok" if self.day.started else "starting"
        return Estimate(time, float(self.day.people[-1]), low, high, quality)

    def anew(self) -> LiveRoom:
        """Give the same room before its first reading."""
        return LiveRoom(self._start_day, interval=self.interval, uses_ventilation=self.uses_ventilation)

    def resume(self, times: Sequence[dt.datetime], co2: Array, ventilation: Array | None) -> None:
        """Become the room that took these readings of one day, without a gap, and nothing before.

        Estimates from here on are what they would have been, and it takes less time than ``update`` with
        each of them.
        """
        flow = ventilation if self.uses_ventilation and ventilation is not None else np.zeros(len(times))
        self.day = self._start_day()
        self.day.resume(co2, flow, times)
        self._last = times[-1]

    def copy(self) -> LiveRoom:
        """Give the room as it is now: the two go on, each with the readings that it is given."""
        other = copy(self)
        other.day = self.day.copy()
        return other

    def __len__(self) -> int:
        """Count the readings since the day began, or a gap."""
        return len(self.day)

    def refined_estimate(self, back: int) -> float:
        """Give what is now thought of the reading so many before the newest [people]."""
        return float(self.day.people[-1 - back])

    @property
    def people(self) -> Array:
        """What is now thought of every reading of today [people], revised by all that came since."""
        return self.day.people.copy()

    @property
    def co2_smoothed(self) -> Array:
        """Today's CO2, smoothed by what is known now [ppm]."""
        return self.day.co2_smoothed

    @property
    def co2_now(self) -> float:
        """The last of them [ppm]."""
        return self.day.co2_now

    def _checked(self, time: dt.datetime, co2: float, ventilation: float | None) -> float:
        self._check_time(time)
        if not (_is_number(co2) and 0 <= co2 <= 1e6):
            raise InputError(f"co2 must be from 0 to 1000000 ppm, got {co2!r} at {time}")
        if not self.uses_ventilation:
            return 0.0
        if ventilation is None:
            raise InputError(f"ventilation is missing at {time}, and this model was trained with it")
        if not (_is_number(ventilation) and 0 <= ventilation <= 1):
            raise InputError(f"ventilation must be from 0 to 1 (80 % is 0.8), got {ventilation!r} at {time}")
        return float(ventilation)

    def _starts_anew(self, time: dt.datetime) -> bool:
        """Tell whether nothing leads up to this reading: the first of all, of a day, or after a gap."""
        if self._last is None or time.date() != self._last.date():
            return True
        return minutes_between(self._last, time) > 1.5 * self.interval

    def _check_time(self, time: dt.datetime) -> None:
        if not isinstance(time, dt.datetime) or time != time:  # NaT is a datetime that is not itself
            raise InputError(f"time must be a datetime, got {time!r}")
        if self._last is None:
            return
        if (time.tzinfo is None) != (self._last.tzinfo is None):
            raise InputError(
                f"time must keep its kind, with or without a zone, got {time} after {self._last}"
            )
        minutes = minutes_between(self._last, time)
        if minutes <= 0:
            raise InputError(f"times must rise, got {time} after {self._last}")
        intervals = minutes / self.interval
        if time.date() == self._last.date() and abs(intervals - round(intervals)) > 1e-6:
            rule = f"time must be {self.interval:g} min after {self._last}, as in training, or a gap of whole"
            raise InputError(f"{rule} intervals, got {time}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)


def minutes_between(earlier: dt.datetime, later: dt.datetime) -> float:
    """Minutes that pass from one time to the other, also across a change of the clock."""
    if earlier.tzinfo is not None:
        earlier, later = earlier.astimezone(dt.UTC), later.astimezone(dt.UTC)
    return (later - earlier).total_seconds() / 60
