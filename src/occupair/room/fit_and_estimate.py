"""Training of the room layer on a table of readings, and estimation from one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from occupair.errors import InputError, check_integer
from occupair.progress import track
from occupair.readings.daily_lows import DailyLow, periods_of
from occupair.readings.head_counts import INFERRED, WEIGHT
from occupair.readings.other_sensors import sensor_columns, sensor_names
from occupair.readings.schema import date_slices, episode_slices, interval_of, ventilation_of
from occupair.room.baseline_drift import Baseline, DriftFollower
from occupair.room.expectation import Expectation, expect
from occupair.room.features import GROUPS
from occupair.room.fitted_balances import BalanceStart
from occupair.room.inputs import Clock, episode_inputs
from occupair.room.lags import LAGS
from occupair.room.linked_elm import RIDGES
from occupair.room.members import TrainingSettings
from occupair.room.model import RoomModel
from occupair.room.pooled_start import POOLED, PooledStart, shipped_start
from occupair.room.profile_comparison import ProfileComparison, compare_with_profile
from occupair.room.sensor_corrections import SensorCorrections, episode_people
from occupair.room.sensor_training import FittedSensors, fit_sensors
from occupair.room.stuck_sensors import StuckRule
from occupair.room.training import HeldOutEstimates, fit_room
from occupair.room.training_days import LabelledEpisode
from occupair.room.transfer import BalancePrior
from occupair.smoothing import smoothing_in_readings

Z_MAX = (1.5, 1.0, 1.0, 0.5, 1.0)
"""Default influence of M, P, V, T and S on the neurons; their sum is 5, Eq. (13)."""


@dataclass(frozen=True)
class FittedRoom:
    """A trained room and its errors on held-out training days.

    Parameters
    ----------
    model : RoomModel
        The trained room.
    error : float
        RMSE on held-out days [people].
    comparison : ProfileComparison or None
        That error next to the error of the time-of-day profile; None for a single day, or when no time of
        day has head counts on two days.
    co2_adds_little : bool
        Whether CO2 adds next to nothing to the time-of-day profile.
    expectation : Expectation or None
        Expected accuracy; None for a single day.
    sensors : FittedSensors or None
        Corrections by optional sensors; None if the readings have none.
    """

    model: RoomModel
    error: float
    comparison: ProfileComparison | None
    co2_adds_little: bool
    expectation: Expectation | None
    sensors: FittedSensors | None = None


def fit_readings(
    readings: pd.DataFrame,
    *,
    smoothing: float,
    z_max: Any,
    n_hidden: int,
    ridge: float | None,
    n_draws: int,
    random_state: Any,
    verbose: bool | None,
    start: str | PooledStart | BalancePrior | None,
) -> FittedRoom:
    """Train the room layer on readings with head counts; see ``OccupancyEstimator`` for the parameters."""
    interval = interval_of(readings)
    _check_counts_and_ridge(ridge, n_hidden=n_hidden, n_draws=n_draws)
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=n_draws)
    settings = TrainingSettings(
        interval=interval,
        smoothing=smoothing_in_readings(smoothing, interval),
        z_max=_influences(z_max),
        n_hidden=n_hidden,
        ridges=RIDGES if ridge is None else (ridge,),
        seeds=tuple(seeds.tolist()),
        start=_pooled(start, n_hidden, _influences(z_max)),
        verbose=verbose,
    )
    prior = _balance_start(start, settings.start, uses_ventilation="ventilation" in readings.columns)
    rules = {name: StuckRule.fit(name, values, interval) for name, values in sensor_columns(readings).items()}
    readings = _without_stuck(readings, rules, interval)
    dates = episodes_by_date(readings)
    model, held_out = fit_room(dates, settings, prior)
    model = replace(model, baseline=Baseline.fit(daily_lows(readings), interval))
    sensors = fit_sensors(dates, model, held_out, rules) if sensor_names(readings) else None
    comparison = _compared(held_out)
    adds_little = comparison is not None and comparison.is_warning and any(d.any() for d in held_out.people)
    error = held_out.error if sensors is None else sensors.error
    expectation = (
        expect(
            model,
            held_out,
            comparison,
            uses_ventilation="ventilation" in readings.columns,
            uses_sensors=sensors is not None,
        )
        if len(held_out.people) > 1
        else None
    )
    return FittedRoom(model, error, comparison, adds_little, expectation, sensors)


def estimate_readings(
    readings: pd.DataFrame,
    room: RoomModel,
    *,
    wait: int,
    confidence: float,
    verbose: bool | None,
    sensors: SensorCorrections | None = None,
    hindsight: bool = False,
) -> pd.DataFrame:
    """Estimate the people at every reading.

    Parameters
    ----------
    readings : DataFrame
        Checked readings.
    room : RoomModel
        The trained room.
    wait : int
        Lag of the refined estimates [readings].
    confidence : float
        Nominal coverage of the prediction interval.
    verbose : bool, optional
        Whether to show progress; None does so in a terminal, if it takes long.
    sensors : SensorCorrections, optional
        Corrections by optional sensors, applied where the readings have them.
    hindsight : bool
        Whether to use all readings of an episode; ``wait`` is then the longest lag.

    Returns
    -------
    DataFrame
        ``people``, ``low`` and ``high`` [people].
    """
    episodes, drift = [], DriftFollower(room.baseline, room.interval)
    runs = {} if sensors is None else sensors.new_runs()
    for one in track(episode_slices(readings), "estimating", show=verbose):
        part = readings.iloc[one]
        co2, clock = part["co2"].to_numpy(), _clock(part)
        inputs = episode_inputs(
            co2,
            ventilation_of(part),
            clock,
            interval=room.interval,
            smoothing=room.smoothing,
            longest_lag=room.lags[-1],
        )
        inputs = inputs.shifted(drift.shifts(part.index[0].toordinal(), clock.minute, co2))
        if sensors is None:
            episodes.append(room.episode_people(inputs, wait, confidence, hindsight=hindsight))
        else:
            values, runs = sensors.without_stuck(sensor_columns(part), runs)
            episodes.append(
                episode_people(room, sensors, inputs, values, wait, confidence, hindsight=hindsight)
            )
    columns = (np.concatenate(column) for column in zip(*episodes, strict=True))
    return pd.DataFrame(dict(zip(("people", "low", "high"), columns, strict=True)), index=readings.index)


def episodes_by_date(readings: pd.DataFrame) -> list[list[LabelledEpisode]]:
    """Split the readings of each local day into episodes without gaps."""
    episodes = episode_slices(readings)  # of all days at once: the gaps of a single day may be its usual step
    firsts = np.searchsorted([one.start for one in episodes], [day.start for day in date_slices(readings)])
    return [
        [_episode(readings.iloc[one]) for one in episodes[first:last]]
        for first, last in pairwise([*firsts.tolist(), len(episodes)])
    ]


def daily_lows(readings: pd.DataFrame) -> list[DailyLow]:
    """Return the lowest CO2 of each local day."""
    lows = []
    for rows in date_slices(readings):
        part = readings.iloc[rows]
        low, minutes = DailyLow(part.index[0].toordinal()), _clock(part).minute
        for one, total in periods_of(minutes, part["co2"].to_numpy()):
            low = low.with_period(float(minutes[one.start]), total / (one.stop - one.start))
        lows.append(low)
    return lows


def _episode(readings: pd.DataFrame) -> LabelledEpisode:
    people = readings["occupancy"].to_numpy()
    weight = readings[WEIGHT].to_numpy() if WEIGHT in readings.columns else None
    return LabelledEpisode(
        readings["co2"].to_numpy(),
        ventilation_of(readings),
        _clock(readings),
        people,
        weight,
        sensor_columns(readings) or None,
        readings[INFERRED].to_numpy(dtype=bool) if INFERRED in readings.columns else None,
    )


def _without_stuck(readings: pd.DataFrame, rules: Mapping[str, StuckRule], interval: float) -> pd.DataFrame:
    """Return the readings of training without the runs in which a sensor was stuck."""
    hidden = {
        name: np.where(rule.stuck_in_training(values, interval), np.nan, values)
        for (name, rule), values in zip(rules.items(), sensor_columns(readings).values(), strict=True)
    }
    return readings.assign(**hidden) if hidden else readings


def _clock(readings: pd.DataFrame) -> Clock:
    return Clock.of(pd.DatetimeIndex(readings.index))


def _pooled(start: Any, n_hidden: int, z_max: tuple[float, ...]) -> PooledStart | None:
    """Return the read-outs to start from; None if there are none for a network with these settings."""
    if start is None:
        return None
    if not (start == POOLED or isinstance(start, PooledStart | BalancePrior)):
        raise InputError(f'start must be "{POOLED}", None or created by transfer(rooms), got {start!r}')
    own = start.pooled if isinstance(start, BalancePrior) else start
    pooled = own if isinstance(own, PooledStart) else shipped_start()
    return pooled if pooled.suits(n_hidden, z_max, LAGS) else None


def _balance_start(start: Any, pooled: PooledStart | None, *, uses_ventilation: bool) -> BalanceStart | None:
    """Return what the mass balance starts from: other trained rooms, or shapes of the public rooms."""
    if isinstance(start, BalancePrior):
        start.check(uses_ventilation)
        return start
    return None if pooled is None else pooled.shapes.get(uses_ventilation)


def _compared(held_out: HeldOutEstimates) -> ProfileComparison | None:
    if len(held_out.people) < 2:
        return None
    return compare_with_profile(
        held_out.clock, held_out.people, held_out.estimated, held_out.weights, held_out.effective_days
    )


def _check_counts_and_ridge(ridge: float | None, **counts: int) -> None:
    for name, value in counts.items():
        check_integer(name, value, least=1)
    if ridge is not None and not (isinstance(ridge, int | float | np.number) and 0 < ridge < math.inf):
        raise InputError(f"ridge must be a finite number above 0, or None, got {ridge!r}")


def _influences(z_max: Any) -> tuple[float, ...]:
    """Return one z_max per feature group; None is the default."""
    try:
        values: NDArray[np.float64] = np.asarray(Z_MAX if z_max is None else z_max, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape not in {(), (len(GROUPS),)} or not (np.isfinite(values).all() and (values >= 0).all()):
        groups = f"one number, or one for each of {', '.join(GROUPS)}, 0 or more"
        raise InputError(f"z_max must be {groups}, got {z_max!r}")
    return tuple(np.broadcast_to(values, (len(GROUPS),)).tolist())
