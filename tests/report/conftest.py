"""A small artificial reproduction that resembles the paper's office."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from occupair.report.paper_experiment import Reproduction, Saturation, Scores

EQUATIONS = [4, 21, 22, 24, 26]
MOST = 28


def _truth(rng: np.random.Generator) -> pd.Series:
    days = pd.date_range("2024-03-04", periods=5, freq="D", tz="Asia/Singapore")
    index = pd.DatetimeIndex(np.concatenate([pd.date_range(day, periods=1440, freq="min") for day in days]))
    minutes = np.tile(np.arange(1440), 5)
    level = 24 * np.exp(-(((minutes - 660) / 130) ** 2)) + 22 * np.exp(-(((minutes - 940) / 190) ** 2))
    counts = np.clip(np.round(level * rng.uniform(0.7, 1.0, 5).repeat(1440)), 0, MOST)
    return pd.Series(counts, index=index, name="occupancy")


def _estimates(truth: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    wander = np.cumsum(rng.normal(0, 0.12, (truth.size, 5)), axis=0)
    noise = {4: 4.0, 21: 1.5, 22: 0.1, 24: 0.1, 26: 0.4}
    spread = {4: 0.3, 21: 0.25, 22: 0.1, 24: 0.9, 26: 0.15}
    columns = {
        equation: truth
        + (truth > 0) * spread[equation] * wander[:, column]
        + rng.normal(0, noise[equation], truth.size)
        for column, equation in enumerate(EQUATIONS)
    }
    return pd.DataFrame(columns).clip(0, MOST)


def _scores(truth: pd.Series, estimate: pd.Series) -> Scores:
    whole = estimate.round()
    wrong = (whole - truth).abs()
    seen, there = whole > 0, truth > 0
    return Scores(
        rmse=float(np.sqrt(((estimate - truth) ** 2).mean())),
        fdr=float((seen != there).mean()),
        fpr=float(seen[~there].mean()),
        fnr=float(1 - seen[there].mean()),
        within_3=float((wrong <= 3).mean()),
        within_4=float((wrong <= 4).mean()),
    )


def _co2_day(truth: pd.Series, rng: np.random.Generator) -> pd.DataFrame:
    index = truth.index[:1440]
    smooth = pd.Series(420 + 18 * truth.iloc[:1440].rolling(60, min_periods=1).mean(), index=index)
    end_error = lambda end: 9 * np.exp((np.arange(1440) - end) / 6)  # noqa: E731
    return pd.DataFrame(
        {
            "raw": np.round(smooth + rng.normal(0, 8, 1440)),
            "globally_smoothed": smooth,
            "locally_smoothed_680": (smooth + end_error(679)).where(np.arange(1440) < 680),
            "locally_smoothed_720": (smooth - end_error(719)).where(np.arange(1440) < 720),
            "ventilation": ((index.hour * 60 + index.minute >= 450) & (index.hour < 22)).astype(float),
        },
        index=index,
    )


def _saturation(spread: float) -> Saturation:
    centres = np.linspace(-9.9, 9.9, 100)
    bell = np.exp(-((centres / spread) ** 2) / 2) * 0.2 / (spread * np.sqrt(2 * np.pi))
    beyond = 1 - bell[np.abs(centres) < 5].sum()
    return Saturation(float(beyond), float(0.8 * beyond**2), pd.Series(bell, index=centres))


def make_reproduction(seed: int = 0) -> Reproduction:
    rng = np.random.default_rng(seed)
    truth = _truth(rng)
    estimates = _estimates(truth, rng)
    wrong = estimates.round().sub(truth, axis=0).abs()
    return Reproduction(
        days=30,
        train_days=25,
        draws=2,
        seed=seed,
        most_people=MOST,
        seconds=41.7,
        scores={equation: _scores(truth, estimates[equation]) for equation in EQUATIONS},
        scales={
            16: {"P": 0.000103, "I": 0.00131, "D": 0.0049, "o": 0.0041, "v": 0.0079},
            20: {"P": 0.000107, "I": 0.0026, "D": 0.0213, "o": 0.0042, "v": 0.0083},
        },
        truth=truth,
        estimates=estimates,
        tolerance_accuracy=pd.DataFrame({x: (wrong <= x).mean() for x in range(11)}).T,
        co2_day=_co2_day(truth, rng),
        saturation={4: _saturation(700.0), 21: _saturation(1.1)},
        error_growth={4: 0.98, 21: 1.01, 22: 0.97},
    )


@pytest.fixture(scope="session")
def reproduction() -> Reproduction:
    return make_reproduction()
