"""The occupancy estimator: trained on readings with head counts, run on readings without."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, overload

import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from occupair.elm.regressors import ELMRegressor
from occupair.errors import InputError
from occupair.estimator_arguments import Mode, check_confidence, check_request, check_settings
from occupair.inferred_training import CLOSED, infer_between_counts, infer_readings, with_doubt
from occupair.live_room import LiveRoom, RunningDay
from occupair.paper import estimation as paper_estimation
from occupair.paper import training as paper_training
from occupair.paper.features import Layer
from occupair.paper.live_day import TOLERANCE, LiveDay
from occupair.paper.network import Network
from occupair.physics.room_properties import PROPERTIES, RoomProperties, room_properties
from occupair.readings.day_fingerprints import day_fingerprints
from occupair.readings.head_counts import check_labelled, has_label
from occupair.readings.schema import check_duplicate_columns, exact_readings, interval_of
from occupair.readings.thinning import thin_days
from occupair.readings.time_zones import time_zone_name
from occupair.readings.training_match import match_training
from occupair.room import fit_and_estimate as room_layer
from occupair.room.lags import lag_in_readings
from occupair.room.live_day import RoomDay
from occupair.room.pooled_start import POOLED, PooledStart
from occupair.room.prediction_intervals import CONFIDENCE
from occupair.room.transfer import BalancePrior, balance_prior
from occupair.smoothing import smoothing_in_readings

ALWAYS_EMPTY = "the room is empty at every head count, so every estimate will be 0: train on days with people"


class OccupancyEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Estimate the number of people in a room from CO2 and ventilation.

    ``OccupancyEstimator()`` is the recommended estimator for real rooms (``layer="room"``): the weighted mean
    of an FS-ELM with direct links on locally smoothed CO2, a mass balance of the room, boosted trees, a
    kernel regression and the time-of-day profile. Past estimates are not fed back, because feedback drifts in
    real rooms. Estimates are refined after 10 and 20 minutes and in hindsight, and come with a prediction
    interval. See ``occupair.room.training``.

    ``OccupancyEstimator.paper()`` is the estimator of Jiang et al. 2016, Eq. (20): trained on the true past
    occupancy with the CO2 of each day smoothed as a whole, and run on its own past estimates.

    Settings are in minutes, so they have the same meaning at any sampling interval: with readings every d
    minutes l = horizon / d, s = stride / d and lambda = smoothing / d**2.

    Parameters
    ----------
    layer : {"room", "fs-elm", "elm"}
        ``"room"`` is the default estimator. ``"fs-elm"`` is the paper's feature layer with scaled groups,
        Eq. (16), and ``"elm"`` the unscaled inputs of the standard machine, Eq. (4).
    horizon : float
        Length of the lag windows, l [min]; not used by the room layer, which has windows of its own.
    stride : float
        Time between the readings whose difference is the feature I, s [min]; not used by the room layer.
    smoothing : float
        Weight of the CO2 smoothing, lambda [min squared]; 0 uses CO2 as measured, Eq. (21).
    z_max : float or sequence of float, optional
        Influence of the feature groups on the hidden neurons, Eq. (13): M, P, V, T and S of the room layer
        (see ``occupair.room.features``), or P, I, D, o and v of the paper; not used by ``layer="elm"``. With
        0 for o no estimate depends on an earlier one. None uses the recommended values.
    n_hidden : int
        Hidden neurons, L.
    ridge : float, optional
        Regularisation of the neurons, gamma of Eq. (15). None selects it on held-out days for the room layer
        and uses 0.001, as in the paper, for the others.
    n_draws : int
        Random layers to try. The room layer keeps the best one on held-out days, the others the one with the
        lowest training error, as in Section V-D.
    random_state, verbose
        See ``FSELMRegressor``. ``verbose`` also applies to ``estimate``.
    start : {"pooled"}, PooledStart, BalancePrior or None
        Room layer: other rooms to start from. ``"pooled"`` is part of the package: a read-out that was
        trained on public rooms, and the shapes of their mass balances; held-out days decide how much of them
        is used. It belongs to the default ``n_hidden`` and ``z_max`` and to a fixed random layer, so
        ``n_draws`` and ``random_state`` matter only without it. None starts from nothing. ``transfer`` adds
        rooms of your own.
    screen : bool
        The paper's layers only: train only the most promising draws on all readings, see ``ELMRegressor``.
    closed : str or sequence of str, optional
        Room layer, where head counts are missing: times of day at which the room is empty, such as
        ``"22:00-06:00"``, a pair of times, or several periods. None is midnight to 5:00, unless people were
        counted then, and ``()`` means that there are none.
    volume, capacity : float, optional
        Room layer: air volume [m3] and number of seats or desks [people]. With both, head counts are
        optional: where there are none, people are inferred from CO2. See ``physics`` and
        ``occupair.physics``.
    area, height, air_flow, activity, outdoor_co2 : optional
        Room layer: floor area [m2] and height [m] in place of the volume; outdoor air flow at full
        ventilation [m3/h]; activity, or CO2 generation per person [m3/h]; outdoor CO2 [ppm]. See
        ``occupair.physics.room_properties``.

    Attributes
    ----------
    interval_ : float
        Time between readings [min].
    most_people_ : float
        Maximum occupancy in training [people]. It is the upper limit of all estimates, except that the room
        layer may exceed it if head counts are sparse, up to ``room_.people_limit``.
    uses_ventilation_ : bool
        Whether the training readings had a ventilation column.
    ventilation_full_ : float or None
        Ventilation value that meant fully on in the training file; later files use the same scale.
    ventilation_unit_ : str or None
        Unit of ``ventilation_full_``, such as ``"%"``; None if unknown.
    timezone_ : str or None
        Time zone of the training readings; None for local times, or if unknown.
    trained_days_ : frozenset of str or None
        Fingerprints of the labelled training days, see ``occupair.readings.day_fingerprints``; None if
        unknown, as in model files of earlier versions.
    training_error_ : float
        RMSE [people]. Room layer: on held-out training days. Others: one step ahead on the training days,
        with the true past.
    expectation_ : Expectation or None
        Room layer, after ``fit``: expected accuracy at each lag, weights of the members, and what would
        improve it most; None for a single day. Not part of a model file.
    air_ : RoomAir or None
        Room layer with volume and capacity: what CO2 tells about the air of the room, and how much of the
        training was on inferred people.
    comparison_ : ProfileComparison or None
        Room layer: its error and that of the time-of-day profile on held-out days; None for a single day, or
        when no time of day has head counts on two days.
    room_ : RoomModel
        Room layer: the trained model.
    sensors_ : SensorCorrections or None
        Room layer: corrections by the optional sensors that reduce the error on held-out days; None if there
        are none. See ``occupair.room.sensor_corrections``.
    sensor_trials_ : tuple of SensorTrial
        Room layer: the optional sensors of the training readings, and what each gained.
    regressor_, layer_, smoothing_
        Other layers: the trained network (``regressor_.scale_`` holds the alphas of Table I), and the
        settings it was trained with, in readings.

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
        start: str | PooledStart | BalancePrior | None = POOLED,
        screen: bool = True,
        closed: Any = None,
        volume: float | None = None,
        capacity: float | None = None,
        area: float | None = None,
        height: float | None = None,
        air_flow: float | None = None,
        activity: str | float = "seated",
        outdoor_co2: float | None = None,
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
        self.closed = closed
        self.volume = volume
        self.capacity = capacity
        self.area = area
        self.height = height
        self.air_flow = air_flow
        self.activity = activity
        self.outdoor_co2 = outdoor_co2

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the estimator with the settings of the paper's Table I and Section V-D, or some changed.

        ``paper()`` trains (20) and runs (22), (24) or (26); ``paper(smoothing=0)`` is (21), and
        ``paper(layer="elm", smoothing=0)`` is (4).
        """
        return cls(**(paper_training.SETTINGS | changes))

    @classmethod
    def physics(
        cls,
        volume: float | None = None,
        capacity: float | None = None,
        closed: Any = CLOSED,
        **changes: Any,
    ) -> Self:
        """Return an estimator for a room without head counts.

        Volume and seats replace them: people are inferred from CO2 by a mass balance whose air change rate is
        calibrated on the readings, see ``occupair.physics``. ``fit`` then needs no ``occupancy``; the head
        counts that there are make it better.

        Parameters
        ----------
        volume : float, optional
            Air volume [m3]; or give ``area`` and ``height``.
        capacity : float
            Number of seats or desks [people].
        closed : str or sequence of str
            Times of day at which the room is empty.
        **changes
            Other settings: ``area`` [m2], ``height`` [m], ``air_flow`` [m3/h] at full ventilation,
            ``activity`` ("seated", "office", ..., or m3/h of CO2 per person), ``outdoor_co2`` [ppm].

        Examples
        --------
        >>> import occupair as oc
        >>> office = oc.simulate_office(days=5, seed=1).drop(columns="occupancy")
        >>> estimator = OccupancyEstimator.physics(volume=502, capacity=35).fit(office)
        >>> bool(10 < estimator.estimate(office).max() < 40)
        True
        """
        if capacity is None or (volume is None and changes.get("area") is None):
            raise InputError(
                "physics needs capacity, and volume or area: how large is the room, how many seats?"
            )
        return cls(volume=volume, capacity=capacity, closed=closed, **changes)

    @classmethod
    def transfer(cls, rooms: Sequence[OccupancyEstimator | str | Path], **changes: Any) -> Self:
        """Return an estimator for a room with few labelled days that starts from models of other rooms.

        CO2 responds to people in much the same way in similar rooms. The mass balance of the new room
        therefore starts from theirs, with a weight that decreases with its labelled days. See
        ``occupair.room.transfer``.

        Parameters
        ----------
        rooms : sequence of OccupancyEstimator or path
            Trained estimators with the room layer, or their files; the more similar the rooms, the better.
        **changes
            Settings of the new estimator.
        """
        models = [room if isinstance(room, OccupancyEstimator) else cls.load(room) for room in rooms]
        return cls(**({"start": balance_prior(models)} | changes))

    def fit(self, readings: pd.DataFrame) -> Self:
        """Train on readings with head counts, or without if volume and capacity are given.

        Parameters
        ----------
        readings : DataFrame
            Readings with ``occupancy``, which is optional with volume and capacity. The room layer can be
            trained on sparse labels, NaN elsewhere, each weighted by ``occupancy_weight`` [0..1, optional:
            missing is 1, and a label with weight 0 is ignored]; where labels are
            missing, people are inferred from CO2. The paper's layers need a label at every reading and
            ignore weights; days that are not longer than the horizon are not used. Of a record with more than
            180 days of head counts, that many are used, see ``occupair.readings.thinning``. The room layer
            also tries the columns of optional sensors (``occupair.readings.other_sensors``) and keeps those
            that clearly reduce the error on held-out days.

        Warns
        -----
        UserWarning
            If CO2 adds next to nothing to the time-of-day profile of this room, on five days or more; if the
            room is empty at every head count.
        """
        check_settings(self.layer, horizon=self.horizon, stride=self.stride)
        check_duplicate_columns(readings)
        properties = self._properties()
        readings = check_labelled(readings, needs_counts=properties is None)
        readings = thin_days(readings) if has_label(readings).any() else readings
        self.trained_days_: frozenset[str] | None = frozenset(day_fingerprints(readings))
        air = None
        if properties is not None:
            readings, air = infer_readings(readings, properties, self.closed)
        elif self.layer == "room":
            readings = infer_between_counts(readings, self.closed)
        learned = self._fit_room(readings) if self.layer == "room" else self._fit_paper(readings)
        for name in (
            "room_",
            "comparison_",
            "expectation_",
            "sensors_",
            "sensor_trials_",
            "regressor_",
            "layer_",
            "smoothing_",
        ):
            self.__dict__.pop(name, None)  # of an earlier fit, perhaps with another layer
        if air is not None:
            learned |= with_doubt(learned, air, readings)
        self.__dict__.update(learned)
        self.interval_ = interval_of(readings)
        self.uses_ventilation_ = "ventilation" in readings.columns
        self.ventilation_full_ = readings.attrs.get("ventilation_full")
        self.ventilation_unit_ = readings.attrs.get("ventilation_unit")
        self.timezone_ = time_zone_name(pd.DatetimeIndex(readings.index))
        self.air_ = air
        self.most_people_ = float(readings["occupancy"].max())
        if self.most_people_ == 0:
            warnings.warn(ALWAYS_EMPTY, UserWarning, stacklevel=2)
        return self

    def _properties(self) -> RoomProperties | None:
        """Return the properties of the room; None if its size is not given."""
        return room_properties(**self._parameters(PROPERTIES)) if self.layer == "room" else None

    def _fit_room(self, readings: pd.DataFrame) -> dict[str, Any]:
        names = ("smoothing", "z_max", "n_hidden", "ridge", "n_draws", "random_state", "verbose", "start")
        fitted = room_layer.fit_readings(readings, **self._parameters(names))
        if fitted.co2_adds_little:
            warnings.warn(str(fitted.comparison), UserWarning, stacklevel=3)
        sensors = fitted.sensors
        return {
            "room_": fitted.model,
            "comparison_": fitted.comparison,
            "expectation_": fitted.expectation,
            "training_error_": fitted.error,
            "sensors_": None if sensors is None else sensors.corrections,
            "sensor_trials_": () if sensors is None else sensors.trials,
        }

    def _fit_paper(self, readings: pd.DataFrame) -> dict[str, Any]:
        interval = interval_of(readings)
        layer, smoothing = self.layer_at(interval), smoothing_in_readings(self.smoothing, interval)
        regressor = paper_training.fit_regressor(readings, self.new_regressor(layer), layer, smoothing)
        error = regressor.training_error_
        return {"regressor_": regressor, "layer_": layer, "smoothing_": smoothing, "training_error_": error}

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
            Readings at the interval of training; ``occupancy`` is ignored. Optional sensors that the model
            uses may be missing, as columns or at some readings; the estimate then does without. Midnight and
            the time of day are those of the time zone of training, to which times with a time zone are
            converted; times without one are local times. A model trained on local times takes times in any
            time zone as local times, but refuses UTC.
        mode : {"live", "hindsight", "drifting"}
            ``"live"``: causal, the same as ``live()``; for the paper's layers the three steps of Eq. (26).
            ``"hindsight"``: with all readings of the day; for the paper's layers its CO2 smoothed as a whole,
            Eq. (22). The room layer smooths its 20-minute refined estimates over the day, as far as that
            reduced the error on held-out days; a model of an earlier version or of a single training day
            returns them as they are. ``"drifting"``: causal, without revising earlier estimates, Eq. (24), to
            show why (26) is needed; the same as ``"live"`` for the room layer, which has no feedback.
        lag : float
            Lag of the refined estimates [min], live only. The last ``lag`` minutes of a day wait only until
            midnight. The room layer refines its estimates after 10 and after 20 minutes.
        interval : float, optional
            Confidence of a prediction interval, above 0 and below 1; room layer only.

        Returns
        -------
        Series or DataFrame
            ``people`` [people, unrounded], one per reading; with ``interval`` also ``low`` and ``high``. The
            paper's layers assume an empty room in the first horizon of each day.
        """
        check_is_fitted(self, "most_people_")
        confidence = interval
        check_request(mode, lag, confidence, has_intervals=hasattr(self, "room_"))
        names = ("interval", "uses_ventilation", "ventilation_full", "ventilation_unit", "timezone")
        checked = match_training(
            readings, **{name: getattr(self, f"{name}_") for name in names}, sensors=self.sensor_names
        )
        times = readings.index.rename("time")
        if hasattr(self, "room_"):
            wait, level = self._wait(lag, mode), confidence or CONFIDENCE
            table = room_layer.estimate_readings(
                checked,
                self.room_,
                wait=wait,
                confidence=level,
                verbose=self.verbose,
                sensors=self.sensors_,
                hindsight=mode == "hindsight",
            )
            return (table["people"] if confidence is None else table).set_axis(times)
        wait, network = exact_readings(lag, self.interval_, "lag", least=0), self.network()
        people = paper_estimation.estimate_readings(
            checked, network, mode=mode, wait=wait, verbose=self.verbose
        )
        return pd.Series(people, index=times, name="people")

    def lag_used(self, lag: float = 0, mode: Mode = "live") -> float | None:
        """Return the lag of the refined estimates that ``estimate`` returns for ``lag`` [min].

        The room layer refines estimates after 10 and 20 minutes, rounded down to readings, so this is the
        longest of 0, 10 and 20 minutes that ``lag`` covers. The paper's layers use all of ``lag``. With
        ``mode="hindsight"`` the whole day is used, and this is None; a room model without a hindsight part,
        of an earlier version or of a single training day, uses its longest lag.
        """
        check_is_fitted(self, "most_people_")
        check_request(mode, lag)
        room = getattr(self, "room_", None)
        if mode == "hindsight" and (room is None or room.hindsight is not None):
            return None
        if room is None:
            return float(lag)
        wait = self._wait(lag, mode)
        return float(self.interval_ * max(one.lag for one in room.refinements if one.lag <= wait))

    def live(
        self,
        *,
        interval: float = 0.9,
        tolerance: float = TOLERANCE,
        lean: bool = False,
        local: bool = False,
    ) -> LiveRoom:
        """Return a room that takes one reading at a time; the paper's layers use Eq. (26).

        Its estimates are those of ``estimate`` on the same readings, also in another time zone.

        Parameters
        ----------
        interval : float
            Confidence of the prediction interval; room layer only.
        tolerance : float
            Largest difference from the exact Eq. (26) [people], traded for speed; the paper's layers only.
        lean : bool
            The paper's layers only, for many rooms in one process: rooms with the same random layer share
            memory, 0.7 instead of 0.9 MB per room with 1000 neurons. A single room is some 30 % slower.
        local : bool
            Whether all times are in the time zone of the room. A model trained on local times then also takes
            times in UTC.

        Examples
        --------
        >>> import occupair as oc
        >>> office = oc.simulate_office(days=4, seed=1)
        >>> room = OccupancyEstimator(random_state=0).fit(office).live()
        >>> room.update(office.index[0], co2=412.0, ventilation=0.0).people
        0.0
        """
        check_is_fitted(self, "most_people_")
        confidence = interval
        check_confidence(confidence)
        lags = None
        if hasattr(self, "room_"):
            start_day: Callable[[], RunningDay] = partial(
                RoomDay, self.room_, confidence=confidence, sensors=self.sensors_
            )
            lags = self.room_.lags
        else:
            start_day = partial(LiveDay, self.network(lean=lean), tolerance=tolerance)
        return LiveRoom(
            start_day,
            interval=self.interval_,
            uses_ventilation=self.uses_ventilation_,
            lags=lags,
            timezone=self.timezone_,
            local=local,
            sensors=self.sensor_names,
        )

    def save(self, path: str | Path) -> None:
        """Write the trained estimator to one file; see ``occupair.model_file``."""
        from occupair.model_file import save_model  # here, because model_file is built on this class

        save_model(self, path)

    @classmethod
    def load(cls, path: str | Path) -> OccupancyEstimator:
        """Read an estimator written by ``save``."""
        from occupair.model_file import load_model  # here, because model_file is built on this class

        return load_model(path)

    def layer_at(self, interval: float) -> Layer:
        """Return the features of the paper's layers for readings every ``interval`` minutes."""
        check_settings(self.layer, horizon=self.horizon, stride=self.stride)
        return paper_training.layer_at(self.layer, self.horizon, self.stride, interval=interval)

    def new_regressor(self, layer: Layer) -> ELMRegressor:
        """Return the untrained regressor of the paper's layers for these settings."""
        names = ("z_max", "ridge", "n_hidden", "n_draws", "random_state", "verbose", "screen")
        return paper_training.new_regressor(layer, **self._parameters(names))

    def network(self, *, lean: bool = False) -> Network:
        """Return the trained network of the paper's layers; see ``live`` for ``lean``."""
        smoothing, most = self.smoothing_, self.most_people_
        return Network.from_regressor(
            self.regressor_, self.layer_, smoothing=smoothing, most_people=most, lean=lean
        )

    def _parameters(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    @property
    def sensor_names(self) -> tuple[str, ...]:
        """Optional sensors that the trained model uses, in the order of their gain."""
        sensors = getattr(self, "sensors_", None)
        return () if sensors is None else sensors.names

    def _wait(self, lag: float, mode: Mode) -> int:
        """Return the lag of the room layer [readings]."""
        longest = self.room_.lags[-1]
        return lag_in_readings(longest if mode == "hindsight" else min(lag, longest), self.interval_)
