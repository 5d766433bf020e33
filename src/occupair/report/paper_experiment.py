"""The experiment of the paper (Section V): 25 training days, 5 test days, all estimators compared."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from occupair import metrics
from occupair.elm.regressors import LINEAR_RANGE
from occupair.estimator import OccupancyEstimator
from occupair.estimator_arguments import Mode
from occupair.paper.stability import error_growth
from occupair.paper.training import training_features
from occupair.progress import stage
from occupair.simulation import simulate_office
from occupair.smoothing import smooth

DAYS, TRAIN_DAYS = 30, 25  # Section V-D
DAY = 1440  # [readings]
TOLERANCES = range(11)  # [people]


@dataclass(frozen=True)
class Scores:
    """One row of the paper's Table II, with two points of its tolerance figure."""

    rmse: float  # (27) [people], on unrounded estimates
    fdr: float  # (30) [0..1], like the following on estimates rounded to whole people
    fpr: float  # (28) [0..1]
    fnr: float  # (29) [0..1]
    within_3: float  # (31) with a tolerance of three people [0..1]
    within_4: float  # (31) with a tolerance of four people [0..1]


@dataclass(frozen=True)
class Saturation:
    """Hidden inputs z outside |z| < 5, Eq. (6), over the training rows."""

    share_beyond_5: float  # fraction of all z with |z| > 5 [0..1]
    share_always_beyond_5: float  # fraction of hidden neurons with |z| > 5 at all rows [0..1]
    density: pd.Series[float]  # fraction of all z in each bin, by bin centre, without outliers


@dataclass(frozen=True)
class Reproduction:
    """Results of the experiment. Estimators are identified by equation number: 4, 21, 22, 24, 26."""

    days: int
    train_days: int
    draws: int
    seed: int
    most_people: int  # maximum occupancy in training, the upper clamp [people]
    seconds: float  # run time [s]
    scores: dict[int, Scores]
    scales: dict[int, dict[str, float]]  # Table I: alpha of P, I, D, o, v for the estimators (16) and (20)
    truth: pd.Series[float]  # occupancy of the test days [people], indexed by time
    estimates: pd.DataFrame  # one column per equation number [people, unrounded], same index as truth
    tolerance_accuracy: pd.DataFrame  # (31): rows x = 0..10 people, one column per equation number [0..1]
    # One day [ppm], indexed by time: raw, globally_smoothed, locally_smoothed_680 and _720 (NaN after those
    # minutes); ventilation [0..1].
    co2_day: pd.DataFrame
    saturation: dict[int, Saturation]  # estimators (4) and (21)
    error_growth: dict[int, float]  # growth of an estimate's error per minute in the feedback, median


@dataclass(frozen=True)
class _Run:
    """One mode of one of the three trained estimators."""

    equation: int
    model: str
    mode: Mode
    cost: float  # of estimation, relative to one draw of FS-ELM


MODELS: dict[str, dict[str, Any]] = {
    "elm": {"layer": "elm", "smoothing": 0},
    "raw": {"smoothing": 0},
    "smoothed": {},
}
RUNS = (
    _Run(4, "elm", "hindsight", 0.2),
    _Run(21, "raw", "hindsight", 0.2),
    _Run(22, "smoothed", "hindsight", 0.2),
    _Run(24, "smoothed", "drifting", 0.6),
    _Run(26, "smoothed", "live", 18.0),
)


def reproduce(*, draws: int = 100, seed: int = 0) -> Reproduction:
    """Run the experiment on the simulated office, with the settings of the paper.

    Parameters
    ----------
    draws : int
        Number of random layers to select from; 100 in the paper.
    seed : int
        Random seed of the office and of the random layers.
    """
    began = time.perf_counter()
    office = simulate_office(DAYS, seed=seed)
    train, test = office.iloc[: TRAIN_DAYS * DAY], office.iloc[TRAIN_DAYS * DAY :]
    models, estimates = _train_and_run(train, test, draws, seed)
    truth = test["occupancy"].astype(float)
    return Reproduction(
        days=DAYS,
        train_days=TRAIN_DAYS,
        draws=draws,
        seed=seed,
        most_people=int(models["smoothed"].most_people_),
        scores={equation: Scores(**metrics.scores(truth, people)) for equation, people in estimates.items()},
        scales={16: _scales(models["raw"]), 20: _scales(models["smoothed"])},
        truth=truth,
        estimates=pd.DataFrame(estimates),
        tolerance_accuracy=_tolerance_curves(truth, estimates),
        co2_day=co2_day(test.iloc[:DAY]),
        saturation={4: _saturation(models["elm"], train), 21: _saturation(models["raw"], train)},
        error_growth={run.equation: _median_growth(models[run.model], train) for run in RUNS[:3]},
        seconds=time.perf_counter() - began,
    )


def co2_day(day: pd.DataFrame) -> pd.DataFrame:
    """Smooth one day as in the paper's CO2 figure: globally, and after 680 and 720 minutes."""
    co2 = day["co2"].to_numpy()
    columns = {"raw": co2, "globally_smoothed": smooth(co2)}
    for minutes in (680, 720):
        so_far = np.full(co2.size, np.nan)
        so_far[:minutes] = smooth(co2[:minutes])
        columns[f"locally_smoothed_{minutes}"] = so_far
    return pd.DataFrame(columns | {"ventilation": day["ventilation"].to_numpy()}, index=day.index)


def _train_and_run(
    train: pd.DataFrame, test: pd.DataFrame, draws: int, seed: int
) -> tuple[dict[str, OccupancyEstimator], dict[int, pd.Series[float]]]:
    whole = len(MODELS) * draws + sum(run.cost for run in RUNS)
    done = 0.0
    models, estimates = {}, {}
    for name, changes in MODELS.items():
        with stage(f"training {_model_name(name)}", done / whole, (done + draws) / whole):
            model = OccupancyEstimator.paper(n_draws=draws, screen=False, random_state=seed, **changes)
            models[name] = model.fit(train)
        done += draws
    for run in RUNS:
        with stage(f"estimating with ({run.equation})", done / whole, (done + run.cost) / whole):
            estimates[run.equation] = models[run.model].estimate(test, mode=run.mode)
        done += run.cost
    return models, estimates


def _model_name(name: str) -> str:
    return "ELM" if name == "elm" else f"FS-ELM on {name} CO2"


def _scales(model: OccupancyEstimator) -> dict[str, float]:
    names = model.layer_.sizes()
    return dict(zip(names, model.regressor_.scale_.tolist(), strict=True))


def _tolerance_curves(truth: pd.Series[float], estimates: dict[int, pd.Series[float]]) -> pd.DataFrame:
    curves = {
        equation: [
            metrics.tolerance_accuracy(truth, metrics.whole_people(people), tolerance=x) for x in TOLERANCES
        ]
        for equation, people in estimates.items()
    }
    return pd.DataFrame(curves, index=pd.Index(TOLERANCES, name="tolerance"))


def _saturation(model: OccupancyEstimator, train: pd.DataFrame) -> Saturation:
    rows, _ = training_features(train, model.layer_, model.smoothing_)
    edges = np.arange(-60, 61) / 4
    counts, beyond = np.zeros(edges.size - 1), 0
    always = np.ones(model.n_hidden, dtype=bool)
    for block in np.array_split(rows, len(rows) // DAY):  # about one day at a time to limit memory
        z = model.regressor_.hidden_input(block)
        flat = np.abs(z) > LINEAR_RANGE
        counts += np.histogram(z, bins=edges)[0]
        beyond += int(flat.sum())
        always &= flat.all(axis=0)
    size = len(rows) * model.n_hidden
    density = pd.Series(counts / size, index=(edges[1:] + edges[:-1]) / 2, name="share")
    return Saturation(beyond / size, float(always.mean()), density)


def _median_growth(model: OccupancyEstimator, train: pd.DataFrame) -> float:
    """Return the median growth of an error per minute, given the true past, over the training days."""
    network = model.network()
    growths = []
    for start in range(0, len(train), DAY):
        day = train.iloc[start : start + DAY]
        co2 = smooth(day["co2"].to_numpy(), smoothing=network.smoothing)
        ventilation, people = day["ventilation"].to_numpy(), day["occupancy"].to_numpy(dtype=float)
        for k in range(60, DAY, 60):
            window = slice(k - network.layer.horizon, k + 1)
            growths.append(error_growth(network, co2[window], ventilation[window], people[window][:-1]))
    return float(np.median(growths))
