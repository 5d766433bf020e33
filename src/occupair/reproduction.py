"""The paper's experiment (Section V): 25 days to train on, five to test, every estimator it compares."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Scores:
    """One row of the paper's Table II, with two points of its tolerance figure."""

    rmse: float  # (27) [people], on unrounded estimates
    fdr: float  # (30) [0..1], this and what follows on estimates rounded to whole people
    fpr: float  # (28) [0..1]
    fnr: float  # (29) [0..1]
    within_3: float  # (31) with a tolerance of three people [0..1]
    within_4: float  # (31) with a tolerance of four people [0..1]


@dataclass(frozen=True)
class Saturation:
    """How far the inputs z of the hidden neurons lie outside |z| < 5, Eq. (6), over the training rows."""

    share_beyond_5: float  # share of all z with |z| > 5 [0..1]
    share_always_beyond_5: float  # share of hidden neurons with |z| > 5 at every training row [0..1]
    density: pd.Series  # density of z, indexed by bin centre, on a range that shows the sigmoid; sums to <= 1


@dataclass(frozen=True)
class Reproduction:
    """What the experiment found. Estimators are named by their equation number: 4, 21, 22, 24, 26."""

    days: int
    train_days: int
    draws: int
    seed: int
    most_people: int  # the most people seen in training: the upper clamp [people]
    seconds: float  # how long it took [s]
    scores: dict[int, Scores]
    scales: dict[int, dict[str, float]]  # Table I: alpha of P, I, D, o, v for the estimators (16) and (20)
    truth: pd.Series  # occupancy of the test days [people], indexed by time
    estimates: pd.DataFrame  # one column per equation number [people, unrounded], same index as truth
    tolerance_accuracy: pd.DataFrame  # (31): rows x = 0..10 people, one column per equation number [0..1]
    # One day [ppm], indexed by time: raw, globally_smoothed, locally_smoothed_680 and _720 (NaN after those
    # minutes); ventilation [0..1].
    co2_day: pd.DataFrame
    saturation: dict[int, Saturation]  # estimators (4) and (21)
