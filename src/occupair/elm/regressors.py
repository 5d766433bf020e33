"""Extreme learning machines as scikit-learn regressors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from occupair.elm.hidden_layer import GroupedRows, normal_equations, random_layer, read_out
from occupair.errors import InputError, check_integer
from occupair.progress import track

Array = NDArray[np.float64]

LINEAR_RANGE = 5.0
"""Largest |z| at which the sigmoid is not saturated: Eq. (6)."""

FINISHED = 8
"""Random layers trained on all samples; with more draws, the best ones on a subset."""

_SCREENED_ROWS = 1500  # smallest subset that identifies a good layer
_SCREENED_SHARE = 20  # the subset is one sample in this many


class ELMRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """The standard extreme learning machine.

    Jiang et al. 2016, Eq. (4) with z of Eq. (5): hidden weights W from U(-1, 1), bias b from
    U(-0.1, 0.1), and the read-out of Eq. (15). Of ``n_draws`` random layers the one with the lowest
    training error is kept, as in Section V-D.

    Parameters
    ----------
    n_hidden : int
        Hidden neurons, L.
    ridge : float
        Regularisation gamma of Eq. (15), above 0.
    n_draws : int
        Random layers to try.
    random_state : int, RandomState or None
        Seed of the random layers. The first draws do not depend on ``n_draws``.
    verbose : bool, optional
        Whether to show a progress bar over the draws; None does so in a terminal, if it takes long.
    screen : bool
        With more than ``FINISHED`` draws and many samples, train only the ``FINISHED`` layers on all samples
        that are best on one sample in twenty. False trains all draws on all samples.

    Attributes
    ----------
    coef_ : array of shape (n_hidden,)
        The read-out beta.
    scale_ : array of shape (n_groups,)
        Scale factor of each group of columns; here a single group with 1.
    random_weights_ : array of shape (n_hidden, n_features)
        The random matrix as drawn: W here, R in ``FSELMRegressor``.
    input_weights_ : array of shape (n_hidden, n_features)
        The matrix applied to the inputs: W here, RS in ``FSELMRegressor``.
    bias_ : array of shape (n_hidden,)
        The random bias b.
    layer_seed_ : int
        Seed of the random weights and bias: ``random_layer(layer_seed_, n_hidden, n_features_in_)``.
    training_error_ : float
        RMSE of the selected layer on the training data [unit of y].
    training_errors_ : array of shape (n_draws,)
        The RMSE of every draw; NaN for draws that were screened out.

    Examples
    --------
    >>> X = np.linspace(-1, 1, 50).reshape(-1, 1)
    >>> model = ELMRegressor(n_hidden=20, ridge=1e-6, random_state=0).fit(X, X[:, 0] ** 2)
    >>> bool(model.training_error_ < 0.02)
    True
    """

    def __init__(
        self,
        n_hidden: int = 1000,
        ridge: float = 1e-3,
        n_draws: int = 1,
        random_state: Any = None,
        verbose: bool | None = None,
        screen: bool = True,
    ) -> None:
        self.n_hidden = n_hidden
        self.ridge = ridge
        self.n_draws = n_draws
        self.random_state = random_state
        self.verbose = verbose
        self.screen = screen

    def fit(self, X: Any, y: Any) -> Self:
        """Draw the hidden layer and solve for the read-out.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        self._check_columns(X.shape[1])
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_draws)
        rows = GroupedRows(X, self._group_sizes(X.shape[1]))
        errors, best = np.full(self.n_draws, np.nan), None
        for draw in track(self._promising(X, y, seeds), "training", show=self.verbose):
            candidate = self._train(X, y, rows, int(seeds[draw]), self.ridge)
            errors[draw] = candidate.error
            if best is None or candidate.error < best.error:
                best = candidate
        assert best is not None
        self._keep(best)
        self.training_errors_, self.training_error_ = errors, best.error
        return self

    def _promising(self, X: Array, y: Array, seeds: NDArray[np.int64]) -> list[int]:
        """Return the draws to train on all samples, in order: the best ones on evenly spaced samples.

        The ridge is scaled with the number of samples, so its weight is the same as on all of them.
        """
        step = min(_SCREENED_SHARE, len(y) // max(_SCREENED_ROWS, self.n_hidden))
        if not self.screen or len(seeds) <= FINISHED or step < 2:
            return list(range(len(seeds)))
        some, people = np.ascontiguousarray(X[::step]), y[::step]
        rows = GroupedRows(some, self._group_sizes(X.shape[1]))
        errors = [
            self._train(some, people, rows, seed, self.ridge * len(people) / len(y)).error
            for seed in track(seeds.tolist(), "screening", show=self.verbose)
        ]
        return sorted(np.argsort(errors, kind="stable")[:FINISHED].tolist())

    def predict(self, X: Any) -> Array:
        """Predict y: Jiang et al. 2016, Eq. (4) for the standard machine, Eq. (16) for the scaled one."""
        check_is_fitted(self)
        return self._predict(validate_data(self, X, reset=False, dtype=np.float64))

    def hidden_input(self, X: Any) -> Array:
        """Return the inputs z of all hidden neurons, one row per sample: Eq. (5), or Eq. (9) if scaled."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(X @ self.input_weights_.T + self.bias_)

    def rebuild(self, *, layer_seed: int, scale: Array, coef: Array, n_features: int) -> Self:
        """Set the fitted state from a random layer, scale and read-out, without training data."""
        weights, bias = random_layer(layer_seed, coef.size, n_features)
        input_weights = weights * self._spread(scale, n_features)
        self._keep(_Candidate(layer_seed, weights, bias, scale, input_weights, coef, math.nan))
        self.n_features_in_ = n_features
        return self

    def _train(self, X: Array, y: Array, rows: GroupedRows, seed: int, ridge: float) -> _Candidate:
        weights, bias = random_layer(seed, self.n_hidden, X.shape[1])
        scale = self._scale(rows, weights)
        input_weights = weights * self._spread(scale, X.shape[1])
        coef, error = _solve(X, y, input_weights, bias, ridge)
        return _Candidate(seed, weights, bias, scale, input_weights, coef, error)

    def _scale(self, rows: GroupedRows, weights: Array) -> Array:
        """Return the scale of each group of columns; the standard machine does not scale."""
        return np.ones(1)

    def _spread(self, scale: Array, n_features: int) -> Array:
        """Return the scale of each column: the diagonal of S, Eq. (12)."""
        return np.repeat(scale, self._group_sizes(n_features))

    def _group_sizes(self, n_features: int) -> list[int]:
        return [n_features]

    def _keep(self, best: _Candidate) -> None:
        self.layer_seed_ = best.seed
        self.random_weights_ = best.weights
        self.bias_ = best.bias
        self.scale_ = best.scale
        self.input_weights_ = best.input_weights
        self.coef_ = best.coef

    def _predict(self, X: Array) -> Array:
        return read_out(X, self.input_weights_, self.bias_, self.coef_)

    def _check_parameters(self) -> None:
        for name in ("n_hidden", "n_draws"):
            check_integer(name, getattr(self, name), least=1)
        if not (isinstance(self.ridge, int | float | np.number) and 0 < self.ridge < math.inf):
            raise InputError(f"ridge must be a finite number above 0, got {self.ridge!r}")

    def _check_columns(self, n_features: int) -> None:
        """Raise InputError if a parameter does not match the number of columns."""


class FSELMRegressor(ELMRegressor):
    """The feature-scaled extreme learning machine (FS-ELM), with a set influence of each feature group.

    Jiang et al. 2016, Eqs. (9)-(16). The random weights R of each group of columns are scaled by one factor
    alpha such that, over the training data, the group changes the input of no neuron by more than its
    ``z_max`` (the three steps of Section III-D). Suitable for any regression on columns with different units.

    Parameters
    ----------
    groups : sequence of int, optional
        Number of columns of each group, in order; None treats all columns as one group.
    z_max : float or sequence of float
        Largest ``|z|`` of each group, one per group or one for all. Their sum should be at most 5, Eq. (13).
        One group with ``z_max=5`` is Eq. (11); 0 disables a group.
    n_hidden, ridge, n_draws, random_state, verbose, screen
        As in ``ELMRegressor``.

    Attributes
    ----------
    scale_ : array of shape (n_groups,)
        The scales alpha, Eq. (12); 0 for a group whose columns are all zero.
    coef_, random_weights_, input_weights_, bias_, layer_seed_, training_error_, training_errors_
        As in ``ELMRegressor``.

    Examples
    --------
    A column with values in the thousands does not mask a column of zeros and ones:

    >>> X = np.column_stack([np.linspace(400, 2000, 40), np.tile([0.0, 1.0], 20)])
    >>> y = X[:, 0] / 100 + 5 * X[:, 1]
    >>> fitted = [machine(n_hidden=100, random_state=0).set_params(**groups).fit(X, y) for machine, groups in
    ...           [(ELMRegressor, {}), (FSELMRegressor, {"groups": (1, 1), "z_max": (1.0, 1.0)})]]
    >>> [bool(model.training_error_ < 0.5) for model in fitted]
    [False, True]
    """

    def __init__(
        self,
        groups: Sequence[int] | None = None,
        z_max: float | Sequence[float] = 1.0,
        n_hidden: int = 1000,
        ridge: float = 1e-3,
        n_draws: int = 1,
        random_state: Any = None,
        verbose: bool | None = None,
        screen: bool = True,
    ) -> None:
        super().__init__(n_hidden, ridge, n_draws, random_state, verbose, screen)
        self.groups = groups
        self.z_max = z_max

    def _scale(self, rows: GroupedRows, weights: Array) -> Array:
        """Return the scales by the three steps of Section III-D: alpha = z_max / largest unscaled ``|z|``."""
        sizes = self._group_sizes(weights.shape[1])
        return rows.scales(weights, self._z_max(sizes))

    def _group_sizes(self, n_features: int) -> list[int]:
        return [n_features] if self.groups is None else [int(size) for size in self.groups]

    def _z_max(self, sizes: list[int]) -> Array:
        return np.broadcast_to(np.asarray(self.z_max, dtype=float), (len(sizes),))

    def _check_columns(self, n_features: int) -> None:
        sizes = self._group_sizes(n_features)
        if min(sizes, default=0) < 1 or sum(sizes) != n_features:
            raise InputError(f"groups must sum to the {n_features} columns of X, got {self.groups!r}")
        z_max = np.asarray(self.z_max, dtype=float)
        if z_max.shape not in {(), (1,), (len(sizes),)}:
            raise InputError(f"z_max must be one number or one per group ({len(sizes)}), got {self.z_max!r}")
        if not (np.isfinite(z_max).all() and (z_max >= 0).all()):
            raise InputError(f"z_max must be finite and 0 or more, got {self.z_max!r}")
        total = float(self._z_max(sizes).sum())
        if total > LINEAR_RANGE:
            message = (
                f"the sum of z_max is {total:g}, above {LINEAR_RANGE:g}: some neurons may saturate, Eq. (13)"
            )
            warnings.warn(message, UserWarning, stacklevel=3)


@dataclass(frozen=True)
class _Candidate:
    """A random layer with its read-out and training error."""

    seed: int
    weights: Array
    bias: Array
    scale: Array
    input_weights: Array
    coef: Array
    error: float


def _solve(X: Array, y: Array, input_weights: Array, bias: Array, ridge: float) -> tuple[Array, float]:
    """Solve (gamma I + H'H) beta = H'o, Eq. (15); also return the training RMSE, without another pass."""
    gram, moment = normal_equations(X, y, input_weights, bias)
    gram[np.diag_indices_from(gram)] += ridge
    try:
        beta = cho_solve(cho_factor(gram, lower=True, overwrite_a=True), moment)
    except LinAlgError:
        message = f"ridge must be large enough to solve for the read-out, got {ridge:g}: increase it"
        raise InputError(message) from None
    # |o - H beta|^2 = o'o - 2 beta'H'o + beta'H'H beta, and (15) makes H'H beta = H'o - gamma beta
    squares = float(y @ y - beta @ moment - ridge * (beta @ beta))
    return beta, math.sqrt(max(squares, 0.0) / y.size)
