"""Base class of the baselines: causal estimates, day by day, clamped to the training range."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from occupair.errors import InputError
from occupair.readings.schema import (
    check_readings,
    episode_slices,
    exact_readings,
    interval_of,
    is_same_interval,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Day:
    """The readings of one local day, without head counts.

    Parameters
    ----------
    times : DatetimeIndex
        Local wall-clock times.
    co2 : array
        CO2 [ppm].
    ventilation : array
        Ventilation [0..1]; all 0 if unknown.
    interval : float
        Time between readings [min].
    """

    times: pd.DatetimeIndex
    co2: Array
    ventilation: Array
    interval: float

    def __len__(self) -> int:
        return self.co2.size

    def readings_in(self, minutes: float) -> int:
        """Return the number of readings closest to ``minutes``, at least one.

        Examples
        --------
        >>> import pandas as pd
        >>> times = pd.date_range("2024-01-08", periods=2, freq="5min")
        >>> day = Day(times, np.zeros(2), np.zeros(2), interval=5.0)
        >>> day.readings_in(20), day.readings_in(1)
        (4, 1)
        """
        return max(1, round(minutes / self.interval))


@dataclass(kw_only=True, eq=False, repr=False)
class Baseline(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A causal occupancy estimator that treats each local day separately.

    Subclasses implement training (``_fit_days``) and estimation of a day (``_estimate_day``). An estimate
    may use readings up to ``lag`` minutes later on the same local day and is clamped to between 0 and the
    maximum occupancy in training.

    Parameters
    ----------
    lag : float
        Lag of the estimates: how long each waits for later readings [min].

    Attributes
    ----------
    interval_ : float
        Time between readings [min].
    most_people_ : float
        Maximum occupancy in training [people].
    uses_ventilation_ : bool
        Whether the training readings have a ventilation column.
    """

    lag: float = 0

    def fit(self, readings: pd.DataFrame) -> Self:
        """Train on labelled readings."""
        readings = check_readings(readings, needed=("co2", "occupancy"))
        interval = interval_of(readings)
        exact_readings(self.lag, interval, "lag", least=0)
        occupancy = readings["occupancy"].to_numpy()
        self._fit_days(days_of(readings, interval), [occupancy[day] for day in episode_slices(readings)])
        self.interval_ = interval
        self.most_people_ = float(occupancy.max())
        self.uses_ventilation_ = "ventilation" in readings.columns
        return self

    def estimate(self, readings: pd.DataFrame) -> pd.Series[float]:
        """Estimate the occupancy at every reading.

        Parameters
        ----------
        readings : DataFrame
            Readings at the training interval; ``occupancy`` is ignored.

        Returns
        -------
        Series
            ``people`` [people, unrounded], each from the readings up to ``lag`` minutes later. The last
            ``lag`` minutes of a day use the readings available.
        """
        check_is_fitted(self, "interval_")
        readings = self._checked(readings)
        people = np.concatenate([self._estimate_day(day) for day in days_of(readings, self.interval_)])
        return pd.Series(np.clip(people, 0.0, self.most_people_), index=readings.index, name="people")

    @abstractmethod
    def _fit_days(self, days: list[Day], people: list[Array]) -> None:
        """Train on days and their head counts; set attributes only once nothing can fail."""

    @abstractmethod
    def _estimate_day(self, day: Day) -> Array:
        """Estimate one day, unclamped [people]."""

    def _ahead(self, day: Day) -> int:
        """Return the number of later readings an estimate may use."""
        return exact_readings(self.lag, day.interval, "lag", least=0)

    def _checked(self, readings: pd.DataFrame) -> pd.DataFrame:
        columns = ["co2", "ventilation"] if self.uses_ventilation_ else ["co2"]
        if isinstance(readings, pd.DataFrame):  # head counts may be missing or invalid
            readings = readings[[name for name in readings.columns if name in columns]]
        readings = check_readings(readings, needed=columns)
        interval = interval_of(readings)
        if not is_same_interval(interval, self.interval_):
            ours, theirs = f"{self.interval_:g} min", f"{interval:g} min"
            raise InputError(f"readings come every {theirs}, but the model was trained on one every {ours}")
        return readings


def days_of(readings: pd.DataFrame, interval: float) -> list[Day]:
    """Split checked readings into local days."""
    assert isinstance(readings.index, pd.DatetimeIndex)
    times = readings.index.tz_localize(None)
    co2 = readings["co2"].to_numpy(dtype=float)
    known = "ventilation" in readings.columns
    ventilation = readings["ventilation"].to_numpy(dtype=float) if known else np.zeros(co2.size)
    return [Day(times[day], co2[day], ventilation[day], interval) for day in episode_slices(readings)]
