"""Results printed in the paper: Tables I and II, and the names of its estimators."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperScores:
    """One row of the paper's Table II."""

    rmse: float  # (27) [people]
    fdr: float  # (30) [0..1]
    fpr: float  # (28) [0..1]
    fnr: float  # (29) [0..1]


#: Names of the estimators by equation number, in the order of the paper.
ESTIMATOR_NAMES: dict[int, str] = {
    4: "standard ELM",
    21: "FS-ELM, raw CO2",
    22: "FS-ELM with hindsight",
    24: "FS-ELM live, not revised",
    26: "FS-ELM live, three steps",
}

#: Table II. The paper discusses the drift of (24) but prints no row for it.
PAPER_SCORES: dict[int, PaperScores] = {
    4: PaperScores(rmse=5.9575, fdr=0.0695, fpr=0.1713, fnr=0.0034),
    21: PaperScores(rmse=3.2307, fdr=0.0569, fpr=0.1438, fnr=0.0005),
    22: PaperScores(rmse=1.7726, fdr=0.0182, fpr=0.0268, fnr=0.0126),
    26: PaperScores(rmse=2.1345, fdr=0.0278, fpr=0.0441, fnr=0.0172),
}

#: Table I: scale factor alpha of each feature group, for the estimators (16) raw and (20) smoothed.
PAPER_SCALES: dict[int, dict[str, float]] = {
    16: {"P": 0.0001, "I": 0.0012, "D": 0.005, "o": 0.004, "v": 0.008},
    20: {"P": 0.0001, "I": 0.0025, "D": 0.02, "o": 0.004, "v": 0.008},
}

#: Section V: tolerance x [people] -> accuracy (31) reached by the best estimator, "up to" [0..1].
PAPER_BEST_WITHIN: dict[int, float] = {3: 0.89, 4: 0.94}
