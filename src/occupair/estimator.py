"""The occupancy estimator: trained on readings with head counts, run on readings without."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from occupair.elm.hidden_layer import shared_layer
from occupair.elm.regressors import ELMRegressor, FSELMRegressor
from occupair.errors import InputError
from occupair.live_room import TOLERANCE, LiveDay, LiveRoom, Network, RunningDay
from occupair.paper.features import LAYERS, Layer
from occupair.progress import track
from occupair.readings.head_counts import WEIGHT, check_labelled
from occupair.readings.schema import COLUMNS, check_readings, date_slices, episode_slices, interval_of
from occupair.readings.source import missing_column
from occupair.readings.time_zones import in_time_zone, time_zone_name
from occupair.readings.ventilation_scale import Scale, check_scale
from occupair.room.features import GROUPS
from occupair.room.inputs import Clock, Inputs, episode_inputs
from occupair.room.lags import LAGS
from occupair.room.linked_elm import RIDGES
from occupair.room.live_day import RoomDay
from occupair.room.model import RoomModel
from occupair.room.profile_comparison import compare_with_profile
from occupair.room.training import TrainingSettings, fit_room
from occupair.room.training_days import LabelledEpisode
from occupair.room.transfer import BalancePrior, balance_prior
from occupair.smoothing import check_smoothing, smooth

Array = NDArray[np.float64]
Mode = Literal["live", "hindsight", "drifting"]
MODES = ("live", "hindsight", "drifting")

ROOM_Z_MAX = (1.5, 1.0, 1.0, 0.5, 1.0)
"""Influence of M, P, V, T and S on the neurons of the room layer; 5 together, Eq. (13)."""
PAPER_Z_MAX = (1.0, 1.0, 1.0, 1.0, 0.1)
"""Influence of P, I, D, o and v: Table I."""
PAPER_RIDGE = 1e-3
"""gamma: Table I."""
NOBODY = "nobody was ever in while training, so nobody will be estimated: train on days with people"


class OccupancyEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """How many people are in a room, from CO2 and ventilation.

    ``OccupancyEstimator()`` is what we recommend for a real room (``layer="room"``): an FS-ELM with direct
    links on the locally smoothed CO2 it will see live, averaged with the mass balance of the room, with no
    past estimates fed back, because what is fed back drifts in real rooms. Of a reading it thinks again
    10 and 20 minutes later, and it says how sure it is. See ``occupair.room.training``.

    ``OccupancyEstimator.paper()`` is that of Jiang et al. 2016, Eq. (20): trained on the true past occupancy
    with the CO2 of each day smoothed as a whole, and run on its own past estimates.

    TrainingSettings are in minutes, so that they mean the same at any sampling interval: at d minutes between
    readings l = horizon / d, s = stride / d and lambda = smoothing / d**2.

    Parameters
    ----------
    layer : {"room", "fs-elm", "elm"}
        Ours; or the paper's: the feature layer with scaled groups, Eq. (16), or the bare inputs of the
        standard machine, Eq. (4).
    horizon : float
        How far back it looks, l [min]; the room layer looks back as far as it needs.
    stride : float
        Distance of the readings whose difference is the feature I, s [min]; not used by the room layer.
    smoothing : float
        Weight of the CO2 smoothing, lambda [min squared]; 0 takes CO2 as measured, Eq. (21).
    z_max : float or sequence of float, optional
        Influence of the groups on the hidden neurons, Eq. (13): M, P, V, T and S of the room layer (see
        ``occupair.room.features``), or P, I, D, o and v of the paper's; not used by ``layer="elm"``. With
        0 for o no estimate depends on an earlier one. If not given, what we or the paper recommend.
    n_hidden : int
        Hidden neurons, L.
    ridge : float, optional
        Regularisation of the neurons, gamma of Eq. (15). If not given, the room layer chooses it on days
        left out, the others take the paper's 0.001.
    n_draws : int
        Random layers to try. The room layer keeps the best on days left out, the others the best in
        training, as in Section V-D.
    random_state, verbose
        See ``FSELMRegressor``. ``verbose`` also shows progress of ``estimate``.
    start : BalancePrior, optional
        Rooms to start from, for a room with few labelled days: see ``transfer``.
    screen : bool
        The paper's layers: of many draws train only the promising ones on all rows, see ``ELMRegressor``.

    Attributes
    ----------
    interval_ : float
        Time between readings [min].
    most_people_ : float
        The most people seen in training, which no estimate exceeds [people].
    uses_ventilation_ : bool
        Whether the training readings had a ventilation column.
    ventilation_full_ : float or None
        What was fully on in the file the training readings came from: later files take the same scale.
    ventilation_unit_ : str or None
        The unit of that, such as ``"%"``; None where it is not known.
    timezone_ : str or None
        Time zone of the training readings; None for local times, or where it is not known.
    training_error_ : float
        RMSE [people]. Room layer: on training days left out. Others: of one step ahead on the training
        days, with the true past.
    comparison_ : ProfileComparison or None
        Room layer: its error and that of the time-of-day profile on days left out; None for a single day,
        or when no time of day has head counts on two.
    room_ : RoomModel
        Room layer: all that was learned.
    regressor_, layer_, smoothing_
        Other layers: the trained network (``regressor_.scale_`` holds the alphas of Table I), and the
        settings it was trained with, counted in readings.

    Examples
    --------
    >>> import occupair as oc
    >>> office = oc.simulate_office(days=4, seed=1)
    >>> estimator = OccupancyEstimator(random_state=0).fit(office.iloc[:-1440])
    >>> people = estimator.estimate(office.iloc[-1440:])
    >>> people.name, people.size, bool(people.max() <= estimator.most_people_)
    ('people', 1440, True)
    >>> estimator.estimate(office.iloc[-1440:], lag=20, interval=0.9).columns.tolist()
    ['people', 'low', 'high']
    """

    def __init__(
        self,
        layer: str = "room",
        horizon: float = 30,
        stride: float = 10,
        smoothing: float = 10,
        z_max: Any = None,
        n_hidden: int = 300,
        ridge: float | None = None,
        n_draws: int = 1,
        random_state: Any = None,
        verbose: bool | None = None,
        start: BalancePrior | None = None,
        screen: bool = True,
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
        self.start = start
        self.screen = screen

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
            "z_max": PAPER_Z_MAX,
            "n_hidden": 1000,
            "ridge": PAPER_RIDGE,
            "n_draws": 100,
        }
        return cls(**(settings | changes))

    @classmethod
    def transfer(cls, rooms: Sequence[OccupancyEstimator | str | Path], **changes: Any) -> Self:
        """Make an estimator for a room with few labelled days, from models of other rooms.

        How CO2 answers to people is much the same in rooms alike, so its mass balance starts from theirs,
        the more so the fewer days it is then trained on. See ``occupair.room.transfer``.

        Parameters
        ----------
        rooms : sequence of OccupancyEstimator or path
            Trained estimators with the room layer, or their files. The more alike the rooms, the better.
        **changes
            TrainingSettings of the new estimator.

        Examples
        --------
        >>> import occupair as oc
        >>> others = [OccupancyEstimator().fit(oc.simulate_office(days=5, seed=seed)) for seed in (1, 2)]
        >>> office = oc.simulate_office(days=2, seed=3)
        >>> OccupancyEstimator.transfer(others, random_state=0).fit(office).start.n_rooms
        2
        """
        models = [room if isinstance(room, OccupancyEstimator) else cls.load(room) for room in rooms]
        return cls(**({"start": balance_prior(models)} | changes))

    def fit(self, readings: pd.DataFrame) -> Self:
        """Train on readings that have head counts.

        Parameters
        ----------
        readings : DataFrame
            Readings with ``occupancy``. The room layer learns from counts that are known only here and there,
            NaN elsewhere, and trusts each by ``occupancy_weight`` [0..1, optional: missing is 1, and a count
            with 0 is not looked at]; days without a count teach nothing. The paper's layers need the count
            at every reading and trust all alike; days with fewer readings than the horizon teach nothing.

        Warns
        -----
        UserWarning
            When CO2 adds next to nothing in this room to what the time of day tells, on five days or more;
            when nobody was ever in.
        """
        self._check_layer()
        _check_columns(readings)
        readings = check_labelled(readings)
        learned = self._fit_room(readings) if self.layer == "room" else self._fit_paper(readings)
        for name in ("room_", "comparison_", "regressor_", "layer_", "smoothing_"):
            self.__dict__.pop(name, None)  # learned before, perhaps by another layer
        self.__dict__.update(learned)
        self.uses_ventilation_ = "ventilation" in readings.columns
        self.ventilation_full_ = readings.attrs.get("ventilation_full")
        self.ventilation_unit_ = readings.attrs.get("ventilation_unit")
        self.timezone_ = time_zone_name(pd.DatetimeIndex(readings.index))
        self.most_people_ = float(readings["occupancy"].max())
        if self.most_people_ == 0:
            warnings.warn(NOBODY, UserWarning, stacklevel=2)
        return self

    def _fit_room(self, readings: pd.DataFrame) -> dict[str, Any]:
        interval = interval_of(readings)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self._draws())
        settings = TrainingSettings(
            interval=interval,
            smoothing=self.smoothing_at(interval),
            z_max=self._room_z_max(),
            n_hidden=self.n_hidden,
            ridges=RIDGES if self.ridge is None else (self.ridge,),
            seeds=tuple(seeds.tolist()),
            verbose=self.verbose,
        )
        if self.start is not None:
            if not isinstance(self.start, BalancePrior):
                raise InputError(f"start must be None, or made by transfer(rooms), got {self.start!r}")
            self.start.check("ventilation" in readings.columns)
        room, left_out = fit_room(_episodes_of_days(readings), settings, self.start)
        several = len(left_out.people) > 1
        comparison = None
        if several:
            comparison = compare_with_profile(
                left_out.clock, left_out.people, left_out.estimated, left_out.weights, left_out.worth
            )
        if comparison is not None and comparison.is_warning and any(day.any() for day in left_out.people):
            warnings.warn(str(comparison), UserWarning, stacklevel=3)
        error = left_out.error
        return {"room_": room, "interval_": interval, "comparison_": comparison, "training_error_": error}

    def _fit_paper(self, readings: pd.DataFrame) -> dict[str, Any]:
        missing = int(readings["occupancy"].isna().sum())
        if missing:
            rest = "train the default estimator, layer 'room', or leave out days without counts"
            where = f"head counts are missing at {missing} of {len(readings)} readings"
            raise InputError(f"readings: {where}; the paper's layers need all: {rest}")
        interval = interval_of(readings)
        layer, smoothing = self.layer_at(interval), self.smoothing_at(interval)
        rows, people = training_rows(readings, layer, smoothing)
        if people.size == 0:
            raise InputError(f"readings must hold a day with more than {layer.horizon} readings to train on")
        regressor = self.new_regressor(layer).fit(rows, people)
        return {
            "regressor_": regressor,
            "interval_": interval,
            "layer_": layer,
            "smoothing_": smoothing,
            "training_error_": regressor.training_error_,
        }

    @overload
    def estimate(
        self, readings: pd.DataFrame, mode: Mode = ..., *, lag: float = ..., interval: None = ...
    ) -> pd.Series[float]: ...

    @overload
    def estimate(
        self, readings: pd.DataFrame, mode: Mode = ..., *, lag: float = ..., interval: float
    ) -> pd.DataFrame: ...

    def estimate(
        self, readings: pd.DataFrame, mode: Mode = "live", *, lag: float = 0, interval: float | None = None
    ) -> pd.Series[float] | pd.DataFrame:
        """Estimate the people in the room at every reading.

        Parameters
        ----------
        readings : DataFrame
            Readings at the interval of training; ``occupancy`` is not looked at. Where they and those of
            training know their time zones, midnight and the time of day are those of training.
        mode : {"live", "hindsight", "drifting"}
            ``"live"``: from the readings up to then, what ``live()`` gives; the paper's in three steps,
            Eq. (26). ``"hindsight"``: with CO2 smoothed over the whole day, Eq. (22); the room layer waits
            for as long as it gains by waiting, 20 minutes. ``"drifting"``: from the readings up to then
            without revising old estimates, Eq. (24), kept to show why (26) exists; the room layer has
            nothing that drifts and gives what it gives live.
        lag : float
            Minutes that the estimate of a reading may wait for later readings [min], live only. The last
            ``lag`` minutes before midnight wait until midnight. The room layer refines its estimates
            after 10 and after 20 minutes.
        interval : float, optional
            How often a range of each estimate should hold the true count, above 0 and below 1; room
            layer only.

        Returns
        -------
        Series or DataFrame
            ``people`` [people, unrounded], one for each reading; with ``interval`` also ``low`` and
            ``high``. The paper's layers take the first horizon of each day for an empty room.
        """
        check_is_fitted(self, "most_people_")
        self._check_question(mode, lag, interval)
        checked = self._checked(readings)
        times = readings.index.rename("time")
        if not hasattr(self, "room_"):
            return pd.Series(self._estimate_paper(checked, mode, lag), index=times, name="people")
        table = self._estimate_room(checked, self._wait(lag, mode), interval or 0.9).set_axis(times)
        return table["people"] if interval is None else table

    def lag_used(self, lag: float = 0, mode: Mode = "live") -> float | None:
        """Minutes that estimates really wait for later readings when ``lag`` is given [min].

        The room layer thinks again of a reading 10 and 20 minutes later, in whole readings, so it uses the
        longest of 0, 10 and 20 minutes that the lag covers. The paper's layers use all of it; with
        ``mode="hindsight"`` they wait for the end of the day, and this is None.

        Examples
        --------
        >>> import occupair as oc
        >>> model = OccupancyEstimator(random_state=0).fit(oc.simulate_office(days=2, seed=1))
        >>> model.lag_used(60), model.lag_used(5)
        (20.0, 0.0)
        """
        check_is_fitted(self, "most_people_")
        self._check_question(mode, lag, None)
        if not hasattr(self, "room_"):
            return None if mode == "hindsight" else float(lag)
        wait = self._wait(lag, mode)
        return float(self.interval_ * max(one.lag for one in self.room_.refinements if one.lag <= wait))

    def _wait(self, lag: float, mode: Mode) -> int:
        """Count the readings that the room layer waits for."""
        wait = LAGS[-1] if mode == "hindsight" else min(lag, LAGS[-1])
        return int(wait / self.interval_ + 1e-6)

    def _estimate_room(self, readings: pd.DataFrame, wait: int, interval: float) -> pd.DataFrame:
        days = [
            self.room_.of_day(_rows_of(readings.iloc[episode], self.room_), wait, interval)
            for episode in track(episode_slices(readings), "estimating", show=self.verbose)
        ]
        columns = (np.concatenate(column) for column in zip(*days, strict=True))
        return pd.DataFrame(dict(zip(("people", "low", "high"), columns, strict=True)), index=readings.index)

    def _estimate_paper(self, readings: pd.DataFrame, mode: Mode, lag: float) -> Array:
        co2, ventilation, days = readings["co2"].to_numpy(), _ventilation(readings), episode_slices(readings)
        if mode == "hindsight":
            network = self.network()
            return np.concatenate([_with_hindsight(network, co2[day], ventilation[day]) for day in days])
        wait = _readings_in(lag, self.interval_, "lag") if lag else 0
        starts = {day.start for day in days}
        return self._one_by_one(co2, ventilation, starts, revise=mode == "live", wait=wait)

    def _check_question(self, mode: Mode, lag: float, interval: float | None) -> None:
        if mode not in MODES:
            raise InputError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
        if lag and mode != "live":
            raise InputError(f"lag must be 0 with mode {mode!r}, got {lag}")
        if not (isinstance(lag, int | float | np.number) and 0 <= lag < math.inf):
            raise InputError(f"lag must be a number of minutes, 0 or more, got {lag!r}")
        if interval is None:
            return
        _check_probability(interval)
        if not hasattr(self, "room_"):
            raise InputError("interval must be left out: the paper's estimators do not say how sure they are")

    def live(self, *, interval: float = 0.9, tolerance: float = TOLERANCE, lean: bool = False) -> LiveRoom:
        """Start a room that takes one reading at a time; the paper's by Eq. (26).

        Give it times in the time zone of training: a day begins at the midnight of the times it is given.

        Parameters
        ----------
        interval : float
            How often the range of an estimate should hold the true count; room layer only.
        tolerance : float
            How far an estimate may be from Eq. (26) written out [people], for speed; the paper's layers only.
        lean : bool
            For many rooms of the paper's layers in one process: those of one random layer share what they
            can, 0.7 in place of 0.9 MB a room with 1000 neurons. A room alone is some 30 % slower.

        Examples
        --------
        >>> import occupair as oc
        >>> office = oc.simulate_office(days=4, seed=1)
        >>> room = OccupancyEstimator(random_state=0).fit(office).live()
        >>> room.update(office.index[0], co2=412.0, ventilation=0.0).people
        0.0
        """
        check_is_fitted(self, "most_people_")
        _check_probability(interval)
        if hasattr(self, "room_"):
            start_day: Callable[[], RunningDay] = partial(RoomDay, self.room_, interval=interval)
        else:
            start_day = partial(LiveDay, self.network(lean=lean), tolerance=tolerance)
        return LiveRoom(start_day, interval=self.interval_, uses_ventilation=self.uses_ventilation_)

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
        self._check_layer()
        horizon = _readings_in(self.horizon, interval, "horizon")
        stride = _readings_in(self.stride, interval, "stride") if self.layer == "fs-elm" else 1
        return Layer(self.layer, horizon, stride)

    def smoothing_at(self, interval: float) -> float:
        """Count the smoothing in readings squared."""
        return check_smoothing(self.smoothing) / interval**2

    def new_regressor(self, layer: Layer) -> ELMRegressor:
        """Make the untrained regressor for these settings."""
        names = ("n_hidden", "n_draws", "random_state", "verbose", "screen")
        common = {name: getattr(self, name) for name in names}
        common["ridge"] = PAPER_RIDGE if self.ridge is None else self.ridge
        if layer.kind == "elm":
            return ELMRegressor(**common)
        z_max = PAPER_Z_MAX if self.z_max is None else self.z_max
        return FSELMRegressor(groups=list(layer.sizes().values()), z_max=z_max, **common)

    def network(self, *, lean: bool = False) -> Network:
        """Take the trained estimator apart into what one room needs to run; see ``live``."""
        layer, regressor = self.layer_, self.regressor_
        groups = list(layer.sizes())
        scale = np.broadcast_to(regressor.scale_, len(groups)).tolist()
        return Network(
            layer=layer,
            smoothing=self.smoothing_,
            most_people=self.most_people_,
            random=shared_layer(regressor.layer_seed_, regressor.coef_.size, regressor.n_features_in_),
            scale=dict(zip(groups, scale, strict=True)),
            coef=regressor.coef_,
            lean=lean,
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

    def _check_layer(self) -> None:
        if self.layer not in ("room", *LAYERS):
            raise InputError(f"layer must be one of room, {', '.join(LAYERS)}, got {self.layer!r}")
        for name in ("horizon", "stride"):
            minutes = getattr(self, name)
            if not (isinstance(minutes, int | float | np.number) and 0 < minutes < math.inf):
                raise InputError(f"{name} must be a number of minutes above 0, got {minutes!r}")

    def _draws(self) -> int:
        for name in ("n_hidden", "n_draws"):
            value = getattr(self, name)
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise InputError(f"{name} must be a whole number, 1 or more, got {value!r}")
        if self.ridge is not None and not (
            isinstance(self.ridge, int | float | np.number) and 0 < self.ridge < math.inf
        ):
            raise InputError(f"ridge must be a finite number above 0, or None, got {self.ridge!r}")
        return int(self.n_draws)

    def _room_z_max(self) -> tuple[float, ...]:
        try:
            z_max = np.asarray(ROOM_Z_MAX if self.z_max is None else self.z_max, dtype=float)
        except (TypeError, ValueError):
            z_max = np.array(np.nan)
        if z_max.shape not in {(), (len(GROUPS),)} or not (np.isfinite(z_max).all() and (z_max >= 0).all()):
            groups = f"one number, or one for each of {', '.join(GROUPS)}, 0 or more"
            raise InputError(f"z_max must be {groups}, got {self.z_max!r}")
        return tuple(np.broadcast_to(z_max, (len(GROUPS),)).tolist())

    def _checked(self, readings: pd.DataFrame) -> pd.DataFrame:
        columns = ("co2", "ventilation") if self.uses_ventilation_ else ("co2",)
        if isinstance(readings, pd.DataFrame) and isinstance(readings.index, pd.DatetimeIndex):
            readings = in_time_zone(readings, self.timezone_)
            readings = readings.drop(columns=list(set(COLUMNS) - set(columns)), errors="ignore")
        self._check_answerable(readings)
        readings = check_readings(readings, needed=columns)
        if self.uses_ventilation_:
            check_scale(readings, self._ventilation_scale())
        self._check_interval(interval_of(readings))
        return readings

    def _check_answerable(self, readings: pd.DataFrame) -> None:
        """Refuse columns that are there twice, and ventilation that is not there."""
        _check_columns(readings)
        if not isinstance(readings, pd.DataFrame) or "co2" not in readings.columns:
            return  # said by ``check_readings``
        if self.uses_ventilation_ and "ventilation" not in readings.columns:
            advice = "this model was trained with it, train one without ventilation"
            raise InputError(f"readings: {missing_column('ventilation', readings)}; {advice}")

    def _ventilation_scale(self) -> Scale | None:
        if self.ventilation_full_ is None or self.ventilation_unit_ is None:
            return None
        return Scale(self.ventilation_full_, self.ventilation_unit_)

    def _check_interval(self, interval: float) -> None:
        if abs(interval - self.interval_) <= 1e-6:
            return
        ours, theirs = f"{self.interval_:g} min", f"{interval:g} min"
        grid = f"give it one every {ours} (in Python, read_readings(path, interval={self.interval_:g})), or "
        advice = f"{grid if interval < self.interval_ else ''}train it on readings every {theirs}"
        raise InputError(
            f"readings come every {theirs}, but the model was trained on one every {ours}: {advice}"
        )


def _check_columns(readings: object) -> None:
    if not isinstance(readings, pd.DataFrame):
        return  # said by ``check_readings``
    twice = [name for name in COLUMNS if (readings.columns == name).sum() > 1]
    if twice:
        raise InputError(f"readings: has two columns {twice[0]!r}: rename or delete one")


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


def _episodes_of_days(readings: pd.DataFrame) -> list[list[LabelledEpisode]]:
    """Take the readings of each local day apart into episodes."""
    episodes = episode_slices(readings)  # of all days at once: one day's own gaps may be its usual step
    return [
        [_episode(readings.iloc[one]) for one in episodes if day.start <= one.start < day.stop]
        for day in date_slices(readings)
    ]


def _episode(readings: pd.DataFrame) -> LabelledEpisode:
    people = readings["occupancy"].to_numpy()
    weight = readings[WEIGHT].to_numpy() if WEIGHT in readings.columns else None
    return LabelledEpisode(
        readings["co2"].to_numpy(), _ventilation(readings), _clock(readings), people, weight
    )


def _rows_of(readings: pd.DataFrame, room: RoomModel) -> Inputs:
    return episode_inputs(
        readings["co2"].to_numpy(),
        _ventilation(readings),
        _clock(readings),
        interval=room.interval,
        smoothing=room.smoothing,
    )


def _clock(readings: pd.DataFrame) -> Clock:
    return Clock.of(pd.DatetimeIndex(readings.index))


def _with_hindsight(network: Network, co2: Array, ventilation: Array) -> Array:
    """One day by Jiang et al. 2016, Eqs. (22) and (23); Eq. (21) without smoothing."""
    people = np.zeros(co2.size)
    if co2.size > network.layer.horizon:
        network.run(
            smooth(co2, smoothing=network.smoothing), ventilation, people, start=network.layer.horizon
        )
    return people


def _check_probability(interval: float) -> None:
    if not (isinstance(interval, int | float | np.number) and 0 < interval < 1):
        raise InputError(f"interval must be above 0 and below 1 (90 % is 0.9), got {interval!r}")


def _readings_in(minutes: float, interval: float, name: str) -> int:
    count = round(minutes / interval) if math.isfinite(minutes) else 0
    if count < 1 or abs(count * interval - minutes) > 1e-6:
        got = f"{minutes:g} min at one reading every {interval:g} min"
        raise InputError(f"{name} must be a whole number of readings, got {got}")
    return count
