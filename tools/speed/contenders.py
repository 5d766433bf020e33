"""Networks with one random hidden layer: occupair, the reference implementation, BLAS, other packages.

A contender is a function that prepares the training and returns a function that trains; only the latter is
timed. Training returns a function that estimates the people of new rows. Other packages do not scale their
inputs and therefore get standardised columns; they use the same number of neurons and, if they have one, the
same ridge.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor

Array = NDArray[np.float64]
Predict = Callable[[Array], Array]
Train = Callable[[], Predict]

RIDGE, Z_MAX = 1e-3, (1.0, 1.0, 1.0, 1.0, 0.1)  # Table I of the paper


class Work(NamedTuple):
    """Training problem: rows y_k, people o_k, group sizes, number of neurons, and epochs of an MLP."""

    X: Array
    y: Array
    groups: tuple[int, ...]
    n_hidden: int
    epochs: int

    def standardised(self) -> Work:
        """Return the problem with standardised columns; constant columns become 0."""
        spread = self.X.std(axis=0)
        return self._replace(X=(self.X - self.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def ours(work: Work) -> Train:
    from occupair import FSELMRegressor

    model = FSELMRegressor(groups=work.groups, z_max=Z_MAX, n_hidden=work.n_hidden, random_state=0)
    return lambda: model.fit(work.X, work.y).predict


def reference(work: Work) -> Train:
    """Reference implementation of Eqs. (9) to (15), with all of H in memory."""
    X, o, L = work.X, work.y, work.n_hidden

    def train() -> Predict:
        draw = np.random.RandomState(0)
        R, b = draw.uniform(-1, 1, (L, X.shape[1])), draw.uniform(-0.1, 0.1, L)
        edges = np.cumsum(work.groups)[:-1]
        parts = zip(np.split(X, edges, axis=1), np.split(R, edges, axis=1), Z_MAX, strict=True)
        alphas = [z_max / np.abs(x @ r.T).max() for x, r, z_max in parts]
        RS = R * np.repeat(alphas, work.groups)
        H = 1 / (1 + np.exp(-(X @ RS.T + b)))
        beta = np.linalg.solve(RIDGE * np.eye(L) + H.T @ H, H.T @ o)
        return lambda rows: np.asarray(1 / (1 + np.exp(-(rows @ RS.T + b))) @ beta)

    return train


def bare_blas(work: Work) -> Train:
    """Lower bound on the cost: X R' (dgemm), H'H (dsyrk) and its Cholesky factor, in preallocated memory.

    Without activation function, scales and right-hand side. It does not train a network.
    """
    weights = np.random.RandomState(0).uniform(-1, 1, (work.X.shape[1], work.n_hidden))
    product, gram = np.zeros((work.X.shape[0], work.n_hidden)), np.zeros((work.n_hidden, work.n_hidden))

    def train() -> Predict:
        np.matmul(work.X, weights, out=product)
        np.matmul(product.T, product, out=gram)  # numpy calls dsyrk
        gram[np.diag_indices_from(gram)] += 1.0
        cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        return lambda rows: np.full(len(rows), np.nan)

    return train


def hpelm(work: Work) -> Train:
    from hpelm import ELM  # type: ignore[import-not-found]

    X, y = work.X, work.y.reshape(-1, 1)

    def train() -> Predict:
        model = ELM(X.shape[1], 1, norm=RIDGE)
        model.add_neurons(work.n_hidden, "sigm")
        model.train(X, y)
        return lambda rows: np.ravel(model.predict(rows))

    return train


def scikit_elm(work: Work) -> Train:
    from skelm import ELMRegressor  # type: ignore[import-not-found]

    settings = {"n_neurons": work.n_hidden, "ufunc": "sigm", "alpha": RIDGE}
    return _fits(ELMRegressor(random_state=0, **settings), work)


def pyrcn(work: Work) -> Train:
    from pyrcn.extreme_learning_machine import ELMRegressor  # type: ignore[import-not-found]

    settings = {"hidden_layer_size": work.n_hidden, "input_activation": "logistic", "alpha": RIDGE}
    return _fits(ELMRegressor(random_state=0, **settings), work)


def pyoselm(work: Work) -> Train:
    from pyoselm import OSELMRegressor  # type: ignore[import-not-found]

    X, y = work.X, work.y.reshape(-1, 1)

    def train() -> Predict:  # a second fit would continue the first
        model = OSELMRegressor(n_hidden=work.n_hidden, activation_func="sigmoid", random_state=0).fit(X, y)
        return lambda rows: np.ravel(model.predict(rows))

    return train


def random_features(work: Work) -> Train:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    sampler = RBFSampler(gamma=0.5 / work.X.shape[1], n_components=work.n_hidden, random_state=0)
    return _fits(make_pipeline(sampler, Ridge(alpha=RIDGE, solver="cholesky")), work)


def mlp(work: Work) -> Train:
    from sklearn.neural_network import MLPRegressor

    settings = {"activation": "logistic", "max_iter": work.epochs, "random_state": 0}
    return _fits(MLPRegressor(hidden_layer_sizes=(work.n_hidden,), **settings), work)


def _fits(model: Any, work: Work) -> Train:
    return lambda: model.fit(work.X, work.y).predict


OURS, BLAS, REFERENCE = "occupair", "bare BLAS", "reference implementation"
MLP = "scikit-learn MLP"

CONTENDERS: dict[str, Callable[[Work], Train]] = {
    BLAS: bare_blas,
    OURS: ours,
    REFERENCE: reference,
    "hpelm": hpelm,
    "scikit-elm": scikit_elm,
    "pyrcn": pyrcn,
    "pyoselm": pyoselm,
    "scikit-learn random features": random_features,
    MLP: mlp,
}

PEERS = {"hpelm": "hpelm", "scikit-elm": "skelm", "pyrcn": "pyrcn", "pyoselm": "pyoselm"}
"""Other packages and their import names."""


def is_here(name: str) -> bool:
    """Whether a contender can run; other packages are optional."""
    return name not in PEERS or importlib.util.find_spec(PEERS[name]) is not None
