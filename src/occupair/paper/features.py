"""The features of the paper: lag windows of CO2, its differences, past occupancy and ventilation.

All lags are in readings. Every feature group has one row per reading k = horizon, ..., N-1 and its oldest lag
in the first column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from occupair.errors import InputError, check_integer

Array = NDArray[np.float64]

LAYERS = ("fs-elm", "elm")


def input_layer(
    co2: ArrayLike, occupancy: ArrayLike, ventilation: ArrayLike, *, horizon: int = 30
) -> dict[str, Array]:
    """Return the lag windows of CO2, occupancy and ventilation: x_k of Jiang et al. 2016, Eq. (3).

    Parameters
    ----------
    co2, occupancy, ventilation : arrays of shape (N,)
        One value per reading [ppm], [people], [0..1].
    horizon : int
        Length of the lag windows, l [readings].

    Returns
    -------
    dict of arrays
        ``c`` (l+1 columns, k-l..k), ``o`` (l columns, k-l..k-1, without the present), ``v`` (l+1 columns).

    Examples
    --------
    >>> layer = input_layer([400, 410, 430], [0, 1, 2], [0, 1, 1], horizon=1)
    >>> np.hstack(list(layer.values()))
    array([[400., 410.,   0.,   0.,   1.],
           [410., 430.,   1.,   1.,   1.]])
    """
    co2, occupancy, ventilation = _same_length(co2, occupancy, ventilation)
    check_integer("horizon", horizon, least=1)
    return {
        "c": _windows(co2, horizon + 1),
        "o": _windows(occupancy[:-1], horizon),
        "v": _windows(ventilation, horizon + 1),
    }


def feature_layer(
    co2: ArrayLike, occupancy: ArrayLike, ventilation: ArrayLike, *, horizon: int = 30, stride: int = 10
) -> dict[str, Array]:
    """Return the features y_k: P, I and D of CO2, past occupancy and ventilation.

    Jiang et al. 2016, Eqs. (7) and (8).

    Parameters
    ----------
    co2, occupancy, ventilation : arrays of shape (N,)
        One value per reading [ppm], [people], [0..1].
    horizon : int
        Length of the lag windows, l [readings].
    stride : int
        Lag of the differences I, s [readings], from 1 to ``horizon``.

    Returns
    -------
    dict of arrays
        ``P`` (l+1 columns): CO2 [ppm]; ``I`` (l-s+1 columns): its change over ``stride`` readings [ppm];
        ``D`` (l columns): its change from one reading to the next [ppm]; ``o`` (l columns): past occupancy,
        without the present [people]; ``v`` (l+1 columns): ventilation [0..1].

    Examples
    --------
    >>> layer = feature_layer([400, 410, 430], [0, 1, 2], [0, 1, 1], horizon=2, stride=2)
    >>> {name: group.tolist() for name, group in layer.items()}
    {'P': [[400.0, 410.0, 430.0]], 'I': [[30.0]], 'D': [[10.0, 20.0]],
     'o': [[0.0, 1.0]], 'v': [[0.0, 1.0, 1.0]]}
    """
    lags = input_layer(co2, occupancy, ventilation, horizon=horizon)
    check_integer("stride", stride, least=1)
    if stride > horizon:
        raise InputError(f"stride must be at most the horizon of {horizon} readings, got {stride}")
    window = lags["c"]
    return {
        "P": window,
        "I": window[:, stride:] - window[:, :-stride],
        "D": window[:, 1:] - window[:, :-1],
        "o": lags["o"],
        "v": lags["v"],
    }


@dataclass(frozen=True)
class Layer:
    """The features of a network: the inputs of Eq. (3) for ``"elm"``, those of Eq. (7) for ``"fs-elm"``."""

    kind: str
    horizon: int  # l [readings]
    stride: int  # s [readings], used by "fs-elm" only

    def groups(self, co2: ArrayLike, occupancy: ArrayLike, ventilation: ArrayLike) -> dict[str, Array]:
        """Return the feature groups, one row per reading from the horizon on."""
        if self.kind == "elm":
            return input_layer(co2, occupancy, ventilation, horizon=self.horizon)
        return feature_layer(co2, occupancy, ventilation, horizon=self.horizon, stride=self.stride)

    def at(self, co2: Array, occupancy: Array, ventilation: Array) -> Array:
        """Return all feature groups side by side for lag windows that are already cut out, one per row.

        Parameters
        ----------
        co2, ventilation : array of shape (n, l + 1)
        occupancy : array of shape (n, l)
        """
        if self.kind == "elm":
            return np.hstack([co2, occupancy, ventilation])
        rise, step = co2[:, self.stride :] - co2[:, : -self.stride], co2[:, 1:] - co2[:, :-1]
        return np.hstack([co2, rise, step, occupancy, ventilation])

    def sizes(self) -> dict[str, int]:
        """Return the number of columns of each group.

        Examples
        --------
        >>> Layer("fs-elm", horizon=30, stride=10).sizes()
        {'P': 31, 'I': 21, 'D': 30, 'o': 30, 'v': 31}
        """
        one_row = np.zeros(self.horizon + 1)
        return {name: group.shape[1] for name, group in self.groups(one_row, one_row, one_row).items()}

    def column_slices(self) -> dict[str, slice]:
        """Return the columns of each group.

        Examples
        --------
        >>> Layer("elm", horizon=2, stride=1).column_slices()
        {'c': slice(0, 3, None), 'o': slice(3, 5, None), 'v': slice(5, 8, None)}
        """
        sizes = self.sizes()
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: slice(end - sizes[name], end) for name, end in zip(sizes, ends, strict=True)}


def _windows(series: Array, width: int) -> Array:
    """Return all windows of ``width`` values, one per row, oldest first."""
    if series.size < width:
        return np.empty((0, width))
    return np.array(sliding_window_view(series, width))


def _same_length(*series: ArrayLike) -> tuple[Array, ...]:
    arrays = tuple(np.asarray(values, dtype=float) for values in series)
    if any(array.ndim != 1 for array in arrays) or len({array.size for array in arrays}) > 1:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(
            f"co2, occupancy and ventilation must be one-dimensional and of equal length, got {shapes}"
        )
    return arrays
