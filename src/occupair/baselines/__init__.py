"""What people would use instead: baselines under one interface.

Each is a scikit-learn estimator with ``fit(readings)`` and ``estimate(readings)``; see ``Baseline``.
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
