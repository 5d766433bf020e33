"""The occupancy estimator: trained on readings with head counts, run on readings without."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from occupair.elm import ELMRegressor, FSELMRegressor
from occupair.errors import InputError
from occupair.features import LAYERS, Layer
from occupair.live_room import LiveDay, LiveRoom, Network
from occupair.progress import track
from occupair.readings import COLUMNS, check_readings, episode_slices, interval_of
from occupair.smoothing import check_smoothing, smooth

Array = NDArray[np.float64]
Mode = Literal["live", "hindsight", "drifting"]
MODES = ("live", "hindsight", "drifting")


class OccupancyEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """How many people are in a room, from CO2 and ventilation.

    Trained as in Jiang et al. 2016, Eq. (20): on the true past occupancy, with the CO2 of each day
    smoothed as a whole. Run on its own past estimates, in one of three ways (see ``estimate``).

    The settings are those we recommend for a real room: as in the paper, but nothing is fed back (z_max of
    o is 0), because what is fed back drifts in real rooms, and with a longer look back and less smoothing.
    ``paper()`` has the paper's own.

    Settings are in minutes, so that they mean the same at any sampling interval: at d minutes between
    readings l = horizon / d, s = stride / d and lambda = smoothing / d**2.

    Parameters
    ----------
    layer : {"fs-elm", "elm"}
        The feature layer with scaled groups, Eq. (16), or the bare inputs of the standard machine, Eq. (4).
    horizon : float
        How far back it looks, l [min].
    stride : float
        Distance of the readings whose difference is the feature I, s [min].
    smoothing : float
        Weight of the CO2 smoothing, lambda [min squared]; 0 takes CO2 as measured, Eq. (21).
    z_max : float or sequence of float
        Influence of P, I, D, o and v on the hidden neurons, Eq. (13); not used by ``layer="elm"``. With 0
        for o no estimate depends on an earlier one.
    n_hidden, ridge, n_draws, random_state, verbose
        See ``FSELMRegressor``. ``verbose`` also shows progress of ``estimate``.

    Attributes
    ----------
    regressor_ : FSELMRegressor or ELMRegressor
        The trained network; ``regressor_.scale_`` holds the alphas of Table I.
    interval_ : float
        Time between readings [min].
    layer_, smoothing_
        The settings it was trained with, counted in readings.
    most_people_ : float
        The most people seen in training, which no estimate exceeds [people].
    uses_ventilation_ : bool
        Whether the training readings had a ventilation column.
    ventilation_full_ : float or None
        What was fully on in the file the training readings came from: later files take the same scale.
    training_error_ : float
        RMSE of one step ahead on the training days, with the true past [people].

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=3, seed=1)
    >>> estimator = OccupancyEstimator(n_hidden=50, random_state=0).fit(office.iloc[:-1440])
    >>> people = estimator.estimate(office.iloc[-1440:])
    >>> people.name, people.size, bool(people.max() <= estimator.most_people_)
    ('people', 1440, True)
    """

    def __init__(
        self,
        layer: str = "fs-elm",
        horizon: float = 60,
        stride: float = 10,
        smoothing: float = 10,
        z_max: Any = (1.0, 1.0, 1.0, 0.0, 0.1),
        n_hidden: int = 1000,
        ridge: float = 1e-3,
        n_draws: int = 1,
        random_state: Any = None,
        verbose: bool | None = None,
    ) -> None:
        self.layer = layer
        self.horizon = horizon
        self.stride = stride
        self.smoothing = smoothing
        self.z_max = z_max
        self.n_hidden = n_hidden
        self.ridge = ridge
        self.n_draws = n_draws
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Make the estimator with the settings of the paper's Table I and Section V-D, or some changed.

        ``paper()`` trains (20) and runs (22), (24) or (26); ``paper(smoothing=0)`` is (21), and
        ``paper(layer="elm", smoothing=0)`` is (4).

        Examples
        --------
        >>> OccupancyEstimator.paper().n_draws
        100
        """
        settings: dict[str, Any] = {
            "layer": "fs-elm",
            "horizon": 30,
            "stride": 10,
            "smoothing": 50,
            "z_max": (1.0, 1.0, 1.0, 1.0, 0.1),
            "n_hidden": 1000,
            "ridge": 1e-3,
            "n_draws": 100,
        }
        return cls(**(settings | changes))

    def fit(self, readings: pd.DataFrame) -> Self:
        """Train on readings that have head counts.

        Parameters
        ----------
        readings : DataFrame
            Readings with ``occupancy``; days with fewer readings than the horizon teach nothing.
        """
        readings = check_readings(readings, needed=("co2", "occupancy"))
        interval = interval_of(readings)
        layer, smoothing = self.layer_at(interval), self.smoothing_at(interval)
        rows, people = training_rows(readings, layer, smoothing)
        if people.size == 0:
            raise InputError(f"readings must hold a day with more than {layer.horizon} readings to train on")
        self.regressor_ = self.new_regressor(layer).fit(rows, people)
        self.interval_, self.layer_, self.smoothing_ = interval, layer, smoothing
        self.uses_ventilation_ = "ventilation" in readings.columns
        self.ventilation_full_ = readings.attrs.get("ventilation_full")
        self.most_people_ = float(readings["occupancy"].max())
        self.training_error_ = self.regressor_.training_error_
        return self

    def estimate(self, readings: pd.DataFrame, mode: Mode = "live", *, lag: float = 0) -> pd.Series[float]:
        """Estimate the people in the room at every reading.

        Parameters
        ----------
        readings : DataFrame
            Readings at the interval of training; ``occupancy`` is not looked at.
        mode : {"live", "hindsight", "drifting"}
            ``"live"``: from the readings up to then, in three steps, Eq. (26); what ``live()`` gives.
            ``"hindsight"``: with CO2 smoothed over the whole day, Eq. (22). ``"drifting"``: from the
            readings up to then without revising old estimates, Eq. (24); kept to show why (26) exists.
            The three are one where ``smoothing`` is 0: Eq. (21).
        lag : float
            Minutes that the estimate of a reading may wait for later readings [min], live only. The last
            ``lag`` minutes before midnight wait until midnight.

        Returns
        -------
        Series
            ``people`` [people, unrounded], one for each reading. The first horizon of each day is 0.
        """
        check_is_fitted(self, "regressor_")
        if mode not in MODES:
            raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if lag and mode != "live":
            raise InputError(f"lag must be 0 with mode {mode!r}, got {lag}")
        readings = self._checked(readings)
        co2, ventilation, days = readings["co2"].to_numpy(), _ventilation(readings), episode_slices(readings)
        if mode == "hindsight":
            network = self.network()
            people = np.concatenate([_with_hindsight(network, co2[day], ventilation[day]) for day in days])
        else:
            wait = _readings_in(lag, self.interval_, "lag") if lag else 0
            starts = {day.start for day in days}
            people = self._one_by_one(co2, ventilation, starts, revise=mode == "live", wait=wait)
        return pd.Series(people, index=readings.index, name="people")

    def live(self) -> LiveRoom:
        """Start a room that takes one reading at a time: Eq. (26).

        Examples
        --------
        >>> import occupair as oc
        >>> office = oc.simulate_office(days=2, seed=1)
        >>> room = OccupancyEstimator(n_hidden=50, random_state=0).fit(office).live()
        >>> room.update(office.index[0], co2=412.0, ventilation=0.0).people
        0.0
        """
        check_is_fitted(self, "regressor_")
        return LiveRoom(self.network(), interval=self.interval_, uses_ventilation=self.uses_ventilation_)

    def save(self, path: str | Path) -> None:
        """Write the trained estimator to one file; see ``occupair.model_file``."""
        from occupair.model_file import save_model  # here, because that module knows this class

        save_model(self, path)

    @classmethod
    def load(cls, path: str | Path) -> OccupancyEstimator:
        """Read an estimator that ``save`` wrote."""
        from occupair.model_file import load_model

        return load_model(path)

    def layer_at(self, interval: float) -> Layer:
        """Count the settings in readings that come every ``interval`` minutes."""
        if self.layer not in LAYERS:
            raise InputError(f"layer must be one of {', '.join(LAYERS)}, got {self.layer!r}")
        horizon = _readings_in(self.horizon, interval, "horizon")
        stride = _readings_in(self.stride, interval, "stride") if self.layer == "fs-elm" else 1
        return Layer(self.layer, horizon, stride)

    def smoothing_at(self, interval: float) -> float:
        """Count the smoothing in readings squared."""
        return check_smoothing(self.smoothing) / interval**2

    def new_regressor(self, layer: Layer) -> ELMRegressor:
        """Make the untrained regressor for these settings."""
        names = ("n_hidden", "ridge", "n_draws", "random_state", "verbose")
        common = {name: getattr(self, name) for name in names}
        if layer.kind == "elm":
            return ELMRegressor(**common)
        return FSELMRegressor(groups=list(layer.sizes().values()), z_max=self.z_max, **common)

    def network(self) -> Network:
        """Take the trained estimator apart into what one room needs to run."""
        layer = self.layer_
        is_feedback = np.repeat([name == "o" for name in layer.sizes()], list(layer.sizes().values()))
        weights = self.regressor_.input_weights_.T
        return Network(
            layer=layer,
            smoothing=self.smoothing_,
            most_people=self.most_people_,
            known_weights=np.ascontiguousarray(weights[~is_feedback]),
            feedback_weights=np.ascontiguousarray(weights[is_feedback]),
            bias=self.regressor_.bias_,
            coef=self.regressor_.coef_,
        )

    def _one_by_one(
        self, co2: Array, ventilation: Array, starts: set[int], *, revise: bool, wait: int
    ) -> Array:
        """Estimate readings as they come in; each is given as it is thought of ``wait`` readings later."""
        network = self.network()
        people = np.zeros(co2.size)
        for k in track(range(co2.size), "estimating", show=self.verbose):
            if k in starts:
                day = LiveDay(network, revise=revise)
            day.append(co2[k], ventilation[k])
            recent = min(wait + 1, len(day))
            people[k + 1 - recent : k + 1] = day.people[-recent:]
        return people

    def _checked(self, readings: pd.DataFrame) -> pd.DataFrame:
        columns = ("co2", "ventilation") if self.uses_ventilation_ else ("co2",)
        if isinstance(readings, pd.DataFrame):
            readings = readings.drop(columns=list(set(COLUMNS) - set(columns)), errors="ignore")
        readings = check_readings(readings, needed=columns)
        interval = interval_of(readings)
        if abs(interval - self.interval_) > 1e-6:
            ours, theirs = f"{self.interval_:g} min", f"{interval:g} min"
            raise InputError(f"readings come every {theirs}, but the model was trained on one every {ours}")
        return readings


def training_rows(readings: pd.DataFrame, layer: Layer, smoothing: float) -> tuple[Array, Array]:
    """Stack the rows y_k and the people o_k of all days; no window reaches across midnight."""
    co2, people = readings["co2"].to_numpy(), readings["occupancy"].to_numpy()
    ventilation = _ventilation(readings)
    days = episode_slices(readings)
    rows = [
        np.hstack(
            list(layer.groups(smooth(co2[day], smoothing=smoothing), people[day], ventilation[day]).values())
        )
        for day in days
    ]
    return np.vstack(rows), np.concatenate([people[day][layer.horizon :] for day in days])


def _ventilation(readings: pd.DataFrame) -> Array:
    """Ventilation [0..1]; unknown is a constant 0, in training and after."""
    if "ventilation" in readings.columns:
        return readings["ventilation"].to_numpy()
    return np.zeros(len(readings))


def _with_hindsight(network: Network, co2: Array, ventilation: Array) -> Array:
    """One day by Jiang et al. 2016, Eqs. (22) and (23); Eq. (21) without smoothing."""
    people = np.zeros(co2.size)
    if co2.size > network.layer.horizon:
        network.run(
            smooth(co2, smoothing=network.smoothing), ventilation, people, start=network.layer.horizon
        )
    return people


def _readings_in(minutes: float, interval: float, name: str) -> int:
    count = round(minutes / interval) if math.isfinite(minutes) else 0
    if count < 1 or abs(count * interval - minutes) > 1e-6:
        got = f"{minutes:g} min at one reading every {interval:g} min"
        raise InputError(f"{name} must be a whole number of readings, got {got}")
    return count
