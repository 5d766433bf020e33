"""Alternative estimation methods from the literature and practice, with a common interface.

Each baseline is a scikit-learn estimator with ``fit(readings)`` and ``estimate(readings)``.

- `baseline`: the base class and the days it works on
- `mean`, `profile`, `markov_chain`: occupancy statistics, without a sensor
- `mass_balance`, `deconvolution`, `kalman`, `hmm`: physical and state-space models of CO2
- `ridge_and_svr`, `trees`, `mlp`: regression on window features (`window_regressor`, `window_features`)
- `background_co2`, `co2_model`, `kalman_filter`, `hmm_filter`, `markov_transitions`, `rolling`,
  `time_of_day`: their building blocks

To add a baseline, derive a class from `Baseline` (or from `WindowRegressor` for a scikit-learn regressor),
decorate it with ``@dataclass(kw_only=True, eq=False, repr=False)``, declare its settings as fields with
defaults, implement ``_fit_days`` and ``_estimate_day``, and add it to ``BASELINES``. The tests in
``tests/baselines/test_contract.py`` and the look-ahead check of the benchmark then apply to it.
"""

from collections.abc import Callable

from occupair.baselines.baseline import Baseline
from occupair.baselines.deconvolution import DeconvolutionBaseline
from occupair.baselines.hmm import HMMBaseline
from occupair.baselines.kalman import KalmanBaseline
from occupair.baselines.markov_chain import MarkovChainBaseline
from occupair.baselines.mass_balance import MassBalanceBaseline
from occupair.baselines.mean import MeanBaseline
from occupair.baselines.mlp import MLPBaseline
from occupair.baselines.profile import ProfileBaseline
from occupair.baselines.ridge_and_svr import RidgeBaseline, SVRBaseline
from occupair.baselines.trees import GradientBoostingBaseline, RandomForestBaseline

BASELINES: dict[str, Callable[..., Baseline]] = {
    "mean": MeanBaseline,
    "profile": ProfileBaseline,
    "markov-chain": MarkovChainBaseline,
    "mass-balance": MassBalanceBaseline,
    "deconvolution": DeconvolutionBaseline,
    "kalman": KalmanBaseline,
    "hmm": HMMBaseline,
    "ridge": RidgeBaseline,
    "svr": SVRBaseline,
    "random-forest": RandomForestBaseline,
    "gradient-boosting": GradientBoostingBaseline,
    "mlp": MLPBaseline,
}
"""Comparison methods, by name."""

__all__ = [
    "BASELINES",
    "Baseline",
    "DeconvolutionBaseline",
    "GradientBoostingBaseline",
    "HMMBaseline",
    "KalmanBaseline",
    "MLPBaseline",
    "MarkovChainBaseline",
    "MassBalanceBaseline",
    "MeanBaseline",
    "ProfileBaseline",
    "RandomForestBaseline",
    "RidgeBaseline",
    "SVRBaseline",
]
