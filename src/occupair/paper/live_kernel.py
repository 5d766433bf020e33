r"""The three steps of Eq. (26) at a cost that does not depend on the time of day.

After every reading, Jiang et al. 2016 smooth all CO2 of the day again and rerun the estimator from midnight.
The estimate of reading k is therefore recomputed after every later reading n:

.. math:: \hat o_k = \min(\max(\beta^T h(z_k), 0), o_{max}), \quad
          z_k = K^T c_{k-l:k} + V^T v_{k-l:k} + W^T \hat o_{k-l:k-1} + b,

with P, I and D collapsed into K, because they are linear in c. Three properties make this cheap.

**Old CO2 moves along a line.** The back substitution of the smoother is :math:`c_i = a_i + b_i c_{i+1}`, and
:math:`a_i` and :math:`b_i` are fixed by the readings up to i. All of :math:`c_{k-l:k}` therefore follows the
single number :math:`c_k`: a later reading that moves it by r moves z_k by :math:`r G_k` with a constant
vector :math:`G_k = K^T \gamma_k`, :math:`\gamma_k = (\ldots, b_{k-1} b_{k-2}, b_{k-1}, 1)`. This rank-one
update is exact. Once the pivots of the smoother have settled, G is the same for all k.

**A change decays**, by a factor of 0.87 per reading for smoothing 50, so estimates much older than the newest
reading do not change.

**Between full evaluations an estimate moves so little that a short Taylor series is enough.** Every full
evaluation of an estimate also stores its derivatives. The past estimates follow the CO2 as well, so z_k
mostly moves along :math:`v = G + W^T t`, where t is the rise of the past estimates with c_k in the last move.
With d the moves of the past estimates and :math:`u = d - t r` their deviation from that line,

.. math:: \beta^T h(z_k + r v + W^T u) = y + y_1 r + \ldots + y_4 r^4 + (g + r m)^T u + e,

100 products in place of 30,000. The remainder e is of fifth order along v, of third order in both, and of
second order in u. With the largest derivatives of h, and the sum over neurons bounded by Cauchy-Schwarz,

.. math:: |e| \le |\beta| \sqrt L \left(\frac{|r v|^5}{480} + \frac{3^{1/4}}{16} |r v|^2 |W^T u|
          + \frac{1}{12} |W^T u|^2\right),

where the sizes of v and W'u are means over the neurons of order 10 and 2. A series is used while this bound
is below the tolerance divided by the error growth of the feedback loop, which is tracked along with the
estimates. Otherwise the estimate is evaluated in full and its series renewed. Every estimate is clamped when
it is made, so reaching or leaving a clamp needs no special case.

Per room this stores the derivatives of some 250 readings and the neurons of some 40, 0.7 MB with the settings
of the paper. No tolerance can be met where the feedback amplifies the rounding errors of doubles beyond it.

The loops over neurons exist twice: compiled by numba here, and in ``occupair.paper.numpy_kernel``. Everything
else is shared by both. All compiled code is in this file, because numba's cache is keyed on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from occupair.compiler import njit  # None without numba: the same results up to rounding, only slower
from occupair.paper import numpy_kernel
from occupair.paper.live_weights import LiveWeights

Array = NDArray[np.float64]
Single = NDArray[np.float32]

MODERATE = 0.1
"""Largest move of z for which ten terms of the series of exp are exact to double precision."""
ACROSS, MIXED, ALONG = 1 / 12, 3**0.25 / 16, 1 / 480
"""Half the largest second and third, 1/120 of the largest fifth derivative of h, for normal W'u."""
ROUNDING = 2.0**-24
"""Rounding of a derivative in single precision; h' is at most 1/4, which leaves room for that of sums."""
WORST = 1e12
"""Upper limit of the tracked error growth."""


class DayState(NamedTuple):
    """The state of every reading of the day."""

    pivots: Array  # q of the forward elimination, see occupair.smoothing
    swept: Array  # its right-hand side
    fixed: Array  # a of c_i = a_i + b_i c_{i+1}
    carried: Array  # b
    co2: Array  # c, smoothed with all readings so far [ppm]
    used: Array  # c when the estimate was last updated [ppm]
    ventilation: Array  # [0..1]
    people: Array  # [people]
    growth: Array  # possible error of the estimate if every step has an error of 1, signed


class SeriesState(NamedTuple):
    """The last full evaluation of recent readings with its derivatives; reading k is in row k % n."""

    reading: NDArray[np.int64]  # the reading in each row
    co2: Array  # c_k [ppm]
    size: Array  # |v|, a mean of order 10
    terms: Array  # y, y_1, ..., y_4
    past: Array  # the estimates before
    tangent: Array  # t [people/ppm]
    gradient: Single  # g
    mixed: Single  # m
    hidden_reading: NDArray[np.int64]  # the reading in each row of ``hidden``
    hidden: Array  # h(z_k), for fewer readings than the others: by far the largest array
    move: Array  # work space: a move of z
    slopes: Single  # work space: beta h'
    bends: Single  # work space: beta h'' times the move
    steps: Array  # work space: moves of past estimates


# ---- compiled by numba; numpy_kernel documents each function ----


def _combine_loops(rows: Array, factors: Array, out: Array) -> None:
    j = 0
    while j + 6 <= factors.size:  # six rows at a time: out is loaded and stored once for six products
        a, b, c = factors[j], factors[j + 1], factors[j + 2]
        d, e, f = factors[j + 3], factors[j + 4], factors[j + 5]
        for i in range(out.size):
            first = a * rows[j, i] + b * rows[j + 1, i] + c * rows[j + 2, i]
            out[i] += first + (d * rows[j + 3, i] + e * rows[j + 4, i] + f * rows[j + 5, i])
        j += 6
    for rest in range(j, factors.size):
        for i in range(out.size):
            out[i] += factors[rest] * rows[rest, i]


def _move_input_loops(along: Array, rise: float, rows: Array, steps: Array, out: Array) -> float:
    for i in range(out.size):
        out[i] = rise * along[i]
    combine(rows, steps, out)
    fourth = 0.0
    for i in range(out.size):
        fourth += (out[i] * out[i]) * (out[i] * out[i])
    return math.sqrt(math.sqrt(fourth))


def _shift_hidden_loops(hidden: Array, move: Array) -> None:
    for i in range(hidden.size):
        x = -move[i]
        exp = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
        exp = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * exp)))))
        hidden[i] /= hidden[i] + (1.0 - hidden[i]) * exp


def _expand_series_loops(
    hidden: Array, coef: Array, move: Array, slopes: Single, bends: Single, terms: Array
) -> float:
    y = first = second = third = fourth = tenth = 0.0
    for i in range(hidden.size):
        h, x = hidden[i], move[i]
        slope, turn, square = h * (1.0 - h), 1.0 - 2.0 * h, x * x
        weighted = coef[i] * slope
        bent = weighted * turn * x
        slopes[i], bends[i] = weighted, bent
        y += coef[i] * h
        first += weighted * x
        second += bent * x
        third += weighted * (1.0 - 6.0 * slope) * (square * x)
        fourth += bent * (1.0 - 12.0 * slope) * (square * x)
        tenth += (square * square) * (square * square) * square
    terms[0], terms[1], terms[2], terms[3], terms[4] = y, first, second / 2.0, third / 6.0, fourth / 24.0
    return float((tenth / hidden.size) ** 0.1)


def _project_loops(rows: Single, vector: Single, out: Single) -> None:
    zero = np.float32(0)
    j = 0
    while j + 5 <= out.size:  # five rows at a time
        a = b = c = d = e = zero
        for i in range(vector.size):
            a += rows[j, i] * vector[i]
            b += rows[j + 1, i] * vector[i]
            c += rows[j + 2, i] * vector[i]
            d += rows[j + 3, i] * vector[i]
            e += rows[j + 4, i] * vector[i]
        out[j], out[j + 1], out[j + 2], out[j + 3], out[j + 4] = a, b, c, d, e
        j += 5
    for rest in range(j, out.size):
        a = zero
        for i in range(vector.size):
            a += rows[rest, i] * vector[i]
        out[rest] = a


def _follow_past_loops(
    people: Array, past: Array, rise: float, tangent: Array, gradient: Single, mixed: Single, growth: Array
) -> tuple[float, float, float]:
    step = square = grown = 0.0
    for j in range(past.size):
        stray = people[j] - past[j] - rise * tangent[j]
        step += (gradient[j] + rise * mixed[j]) * stray
        square += stray * stray
        grown += gradient[j] * growth[j]
    return step, square, grown


def _compiled(function: Callable[..., Any], fastmath: tuple[str, ...] = ("reassoc", "contract")) -> Any:
    """Compile for this processor, with sums in any order; cache the result on disk where possible."""
    if njit is None:
        return function
    options = {"error_model": "numpy", "fastmath": set(fastmath), "nogil": True}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no writable cache directory
        return njit(**options)(function)


def _compiled_in_order(function: Callable[..., Any]) -> Any:
    """Compile without reordering sums, for results that are identical to the last bit."""
    return _compiled(function, fastmath=())


def _loops(in_numpy: Callable[..., Any], in_python: Callable[..., Any]) -> Any:
    """Return the loops to use: compiled, or those of numpy where there is no numba."""
    return in_numpy if njit is None else _compiled(in_python)


combine: Any = _loops(numpy_kernel.combine, _combine_loops)
move_input: Any = _loops(numpy_kernel.move_input, _move_input_loops)
shift_hidden: Any = _loops(numpy_kernel.shift_hidden, _shift_hidden_loops)
expand_series: Any = _loops(numpy_kernel.expand_series, _expand_series_loops)
project: Any = _loops(numpy_kernel.project, _project_loops)
follow_past: Any = _loops(numpy_kernel.follow_past, _follow_past_loops)


# ---- compiled by numba, or run by Python on top of numpy_kernel ----


@_compiled_in_order
def smooth_append(day: DayState, smoothing: float, n: int, newest: float) -> int:
    """Add reading n [ppm] and substitute back, Eq. (25): ``LocalSmoother.append``, bit for bit.

    Returns the index of the first smoothed value that changed.
    """
    day.pivots[n], day.swept[n] = 1.0, newest
    if n > 0:
        day.pivots[n] = 1.0 + day.carried[n - 1] * day.pivots[n - 1]
        day.swept[n] = newest + day.carried[n - 1] * day.swept[n - 1]
    pivot = smoothing + day.pivots[n]
    day.fixed[n], day.carried[n] = day.swept[n] / pivot, smoothing / pivot
    day.co2[n] = day.swept[n] / day.pivots[n]
    for i in range(n - 1, -1, -1):
        value = day.fixed[i] + day.carried[i] * day.co2[i + 1]
        if value == day.co2[i]:
            return i + 1
        day.co2[i] = value
    return 0


@_compiled
def co2_direction(w: LiveWeights, day: DayState, k: int) -> Array:
    """Return G_k, the move of z_k per ppm that c_k moves."""
    if k >= w.settled:
        return w.along
    lags = np.ones(w.co2.shape[1])
    for j in range(lags.size - 2, -1, -1):
        lags[j] = day.carried[k - lags.size + 1 + j] * lags[j + 1]
    direction = np.zeros(w.coef.size)
    for part in range(w.co2_scale.size):
        combine(w.co2[part], w.co2_scale[part] * lags, direction)
    return direction


@_compiled
def evaluate_hidden(w: LiveWeights, day: DayState, k: int, hidden: Array) -> None:
    """Write h(z_k), Eq. (16)."""
    horizon = w.feedback.shape[0]
    hidden[:] = w.bias
    for part in range(w.co2_scale.size):
        combine(w.co2[part], w.co2_scale[part] * day.co2[k - horizon : k + 1], hidden)
    combine(w.ventilation, w.ventilation_scale * day.ventilation[k - horizon : k + 1], hidden)
    combine(w.feedback, w.feedback_scale * day.people[k - horizon : k], hidden)
    hidden[:] = 1.0 / (1.0 + np.exp(-np.maximum(hidden, -700.0)))


@_compiled
def evaluate_in_full(w: LiveWeights, day: DayState, series: SeriesState, k: int) -> None:
    """Evaluate Eq. (16) for reading k and renew its series."""
    horizon, row, place = w.feedback.shape[0], k % series.reading.size, k % series.hidden_reading.size
    past, hidden, terms = day.people[k - horizon : k], series.hidden[place], series.terms[row]
    along, rise, largest = co2_direction(w, day, k), day.co2[k] - series.co2[row], math.inf
    if series.reading[row] == k:
        series.steps[:] = past - series.past[row]
        largest = move_input(along, rise, w.feedback, w.feedback_scale * series.steps, series.move)
    if largest <= MODERATE and series.hidden_reading[place] == k:
        shift_hidden(hidden, series.move)
    else:
        evaluate_hidden(w, day, k, hidden)
    size = math.inf
    if largest < math.inf:
        size = expand_series(hidden, w.coef, series.move, series.slopes, series.bends, terms)
    if abs(rise) < 1e-9 or size > 3.0 * abs(rise) * w.co2_size:  # the move gives no direction: use G
        rise = 1.0
        series.steps[:] = 0.0
        size = expand_series(hidden, w.coef, along, series.slopes, series.bends, terms)
    project(w.single, series.slopes, series.gradient[row])
    project(w.single, series.bends, series.mixed[row])
    series.gradient[row] *= w.feedback_scale
    series.mixed[row] *= w.feedback_scale / rise
    for order in range(1, 5):
        terms[order] /= rise**order
    series.tangent[row] = series.steps / rise
    series.size[row] = size / abs(rise)
    series.co2[row], series.past[row] = day.co2[k], past
    series.reading[row], series.hidden_reading[place] = k, k


@_compiled
def revise(
    w: LiveWeights, day: DayState, series: SeriesState, n: int, newest: float, limit: float
) -> tuple[int, int, float]:
    """Add reading n [ppm] and update the estimates it changes, each step exact to ``limit`` [people].

    Returns
    -------
    tuple of int, int and float
        The number of updated estimates, how many of them were evaluated in full, and the error growth.
    """
    horizon = w.feedback.shape[0]
    still = 0.1 * limit / max(0.25 * w.coef_size * w.co2_size, 1e-300)
    start = max(smooth_append(day, w.smoothing, n, newest), horizon)
    while start < n and abs(day.co2[start] - day.used[start]) <= still:
        start += 1
    in_full, growth = 0, 1.0
    for k in range(start, n + 1):
        row, before = k % series.reading.size, slice(k - horizon, k)
        bound, people, grown = math.inf, 0.0, 0.0
        if series.reading[row] == k:
            rise = day.co2[k] - series.co2[row]
            step, square, grown = follow_past(
                day.people[before], series.past[row], rise,
                series.tangent[row], series.gradient[row], series.mixed[row], day.growth[before],
            )  # fmt: skip
            along, across = (
                series.size[row] * abs(rise),
                w.feedback_scale * w.feedback_size * math.sqrt(square),
            )
            bound = ALONG * along**5 + (MIXED * along**2 + ACROSS * across + ROUNDING) * across
            y, first, second, third, fourth = series.terms[row]
            people = y + rise * (first + rise * (second + rise * (third + rise * fourth))) + step
        if w.coef_size * bound > limit:
            evaluate_in_full(w, day, series, k)
            people = series.terms[row, 0]
            grown = np.sum(series.gradient[row] * day.growth[before])
            in_full += 1
        day.people[k] = min(max(people, 0.0), w.most_people)
        day.used[k] = day.co2[k]
        day.growth[k] = 0.0  # a clamp removes the error
        if day.people[k] == people:
            day.growth[k] = min(max(grown + math.copysign(1.0, grown), -WORST), WORST)
            growth = max(growth, abs(day.growth[k]))
    return max(n + 1 - start, 0), in_full, growth


@_compiled
def run_all(w: LiveWeights, day: DayState, n: int, hidden: Array) -> None:
    """Estimate the first n readings in order from their CO2 as smoothed now."""
    for k in range(w.feedback.shape[0], n):
        evaluate_hidden(w, day, k, hidden)
        day.people[k] = min(max(np.dot(w.coef, hidden), 0.0), w.most_people)
        day.used[k] = day.co2[k]
