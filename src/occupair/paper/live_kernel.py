r"""The three steps of Eq. (26) at a cost that does not depend on the time of day.

When a reading comes in, Jiang et al. 2016 smooths all CO2 of the day again and runs the estimator again
from midnight on. So minute k is estimated anew after every later reading n:

.. math:: \hat o_k = \min(\max(\beta^T h(z_k), 0), o_{max}), \quad
          z_k = K^T c_{k-l:k} + V^T v_{k-l:k} + W^T \hat o_{k-l:k-1} + b,

with P, I and D collapsed into K, because they are linear in c. Three facts make that cheap.

**Old CO2 moves along a line.** The smoother substitutes back, :math:`c_i = a_i + b_i c_{i+1}`, and the
readings up to i fix :math:`a_i` and :math:`b_i` for ever. So all of :math:`c_{k-l:k}` follows the one
number :math:`c_k`: a later reading that moves it by r moves z_k by :math:`r G_k`, with a vector that
stays, :math:`G_k = K^T \gamma_k`, :math:`\gamma_k = (\ldots, b_{k-1} b_{k-2}, b_{k-1}, 1)`. This update of
rank one is exact. Once the pivots of the smoother have settled, G is the same for all k.

**A change fades**, by 0.87 a reading for smoothing 50: what is much older than the newest reading stays.

**In between an estimate moves so little that a few terms of its series give it.** Wherever a minute is
computed in full, its derivatives are kept. The past estimates follow the CO2 as well, so z_k mostly moves
along some :math:`v = G + W^T t`, with t the rise of the past estimates with c_k in the last move. With d the
moves of the past estimates and :math:`u = d - t r` what they stray from that,

.. math:: \beta^T h(z_k + r v + W^T u) = y + y_1 r + \ldots + y_4 r^4 + (g + r m)^T u + e,

100 products in place of 30,000. The rest e is of fifth order along v, of third in both, of second in u.
With the largest derivatives of h, and the sum over neurons bounded by Cauchy and Schwarz,

.. math:: |e| \le |\beta| \sqrt L \left(\frac{|r v|^5}{480} + \frac{3^{1/4}}{16} |r v|^2 |W^T u|
          + \frac{1}{12} |W^T u|^2\right),

the sizes of v and W'u being means over the neurons, of order 10 and 2. A series is believed while this is
below the tolerance over the factor by which the feedback lets errors grow, which is followed along with the
estimates; else the minute is computed in full, and its series laid anew. Each estimate is clamped as it is
made, so one that comes to a clamp or off it needs no care.

Per room this keeps the derivatives of some 250 minutes and the neurons of some 40, 0.7 MB at the settings
of the paper. No tolerance holds where the feedback lets the rounding of doubles itself grow beyond it.

The loops over neurons are here twice: for numba, and in plain numpy where numba cannot be installed and for
tests to compare with. All else is one code for both.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from copy import copy
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import RandomLayer
from occupair.errors import InputError
from occupair.live_room import Network
from occupair.paper.features import Layer

njit: Any = None  # numba's compiler; without it all is slower, and the same to rounding
with contextlib.suppress(ImportError):
    from numba import njit

Array = NDArray[np.float64]
Single = NDArray[np.float32]

MODERATE = 0.1
"""Moves of z up to here go by ten terms of the series of exp, all that a double holds."""
ACROSS, MIXED, ALONG = 1 / 12, 3**0.25 / 16, 1 / 480
"""Half the largest second and third, 1/120 of the largest fifth derivative of h; W'u is taken for normal."""
ROUNDING = 2.0**-24
"""Of a derivative in single precision; h' is 1/4 at most, which leaves room for the rounding of sums."""
LEAN_PLACES = 16
"""Minutes whose neurons a lean network keeps."""
FORGET = 0.95
"""How fast a growth of errors that was once seen is forgotten, per reading."""
WORST = 1e12
"""Errors that grow by more than this are as bad as any."""


class LagWeights(NamedTuple):
    """A random layer, to be scaled, by what it multiplies; rows are lags, oldest first, columns neurons."""

    co2: Array  # parts of K, of P, I and D: shape (3, l + 1, L)
    ventilation: Array  # V, shape (l + 1, L)
    feedback: Array  # W, shape (l, L)
    single: Single  # W once more: derivatives need not be as precise
    bias: Array
    feedback_size: float  # the most that |W'u| / sqrt(L) can be for |u| = 1


class Weights(NamedTuple):
    """A network as the kernel reads it: large arrays are shared with all of the same random layer."""

    co2: Array  # shared parts of K in a lean network, else K in one part
    ventilation: Array
    feedback: Array
    single: Single
    bias: Array
    feedback_size: float
    co2_scale: Array  # of each part, Eq. (12)
    ventilation_scale: float
    feedback_scale: float
    along: Array  # G once the smoother has settled
    coef: Array
    settled: int  # the first minute that this G holds for
    smoothing: float
    most_people: float
    co2_size: float  # |G|, a mean of order 10
    coef_size: float  # |beta| sqrt(L)


class Day(NamedTuple):
    """What is known of every minute of the day."""

    pivots: Array  # q of the forward elimination, see occupair.smoothing
    swept: Array  # its right-hand side
    fixed: Array  # a of c_i = a_i + b_i c_{i+1}
    carried: Array  # b
    co2: Array  # c, smoothed by all readings so far [ppm]
    used: Array  # the same when the estimate was last made [ppm]
    ventilation: Array  # [0..1]
    people: Array  # [people]
    growth: Array  # how wrong the estimate can be if each step errs by 1, signed


class Series(NamedTuple):
    """Where recent minutes were last computed in full, and their derivatives there; minute k in row k % n."""

    minute: NDArray[np.int64]  # whose row it is
    co2: Array  # c_k [ppm]
    size: Array  # |v|, a mean of order 10
    terms: Array  # y, y_1, ..., y_4
    past: Array  # the estimates before
    tangent: Array  # t [people/ppm]
    gradient: Single  # g
    mixed: Single  # m
    hidden_minute: NDArray[np.int64]
    hidden: Array  # h(z_k), in fewer rows than the others: the largest by far
    move: Array  # room for a move of z
    slopes: Single  # room for beta h'
    bends: Single  # room for beta h'' times the move
    steps: Array  # room for moves of past estimates


# ---- over all neurons, or all lags, in numpy ----


def _combine(rows: Array, factors: Array, out: Array) -> None:
    """Add factors @ rows to ``out``."""
    out += np.dot(factors, rows)


def _move(along: Array, rise: float, rows: Array, steps: Array, out: Array) -> float:
    """Write the move of z, rise * along + steps @ rows; give a number that no entry of it exceeds."""
    out[:] = rise * along
    out += np.dot(steps, rows)
    return float(np.sum(out**4) ** 0.25)


def _shift(hidden: Array, move: Array) -> None:
    """Overwrite h(z) with h(z + move), which is h / (h + (1 - h) exp(-move))."""
    hidden /= hidden + (1.0 - hidden) * np.exp(-move)


def _derive(hidden: Array, coef: Array, move: Array, slopes: Single, bends: Single, terms: Array) -> float:
    """Write the series of beta'h along a move, beta h', and beta h'' times the move; give its size."""
    slope, turn = hidden * (1.0 - hidden), 1.0 - 2.0 * hidden
    slopes[:] = coef * slope
    bends[:] = coef * slope * turn * move
    first, square = coef * slope * move, move * move
    terms[0], terms[1] = coef @ hidden, first.sum()
    terms[2] = np.sum(first * move * turn) / 2.0
    terms[3] = np.sum(first * square * (1.0 - 6.0 * slope)) / 6.0
    terms[4] = np.sum(first * square * move * turn * (1.0 - 12.0 * slope)) / 24.0
    return float(np.mean(square**5) ** 0.1)


def _project(rows: Single, vector: Single, out: Single) -> None:
    """Write rows @ vector to ``out``."""
    out[:] = np.dot(rows, vector)


def _follow(
    people: Array, past: Array, rise: float, tangent: Array, gradient: Single, mixed: Single, growth: Array
) -> tuple[float, float, float]:
    """Give (g + r m)'u, |u|^2 and g'E, with E the errors there may be in the past estimates."""
    stray = people - past - rise * tangent
    return float((gradient + rise * mixed) @ stray), float(stray @ stray), float(gradient @ growth)


# ---- the same for numba ----


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


def _move_loops(along: Array, rise: float, rows: Array, steps: Array, out: Array) -> float:
    for i in range(out.size):
        out[i] = rise * along[i]
    _combine(rows, steps, out)
    fourth = 0.0
    for i in range(out.size):
        fourth += (out[i] * out[i]) * (out[i] * out[i])
    return math.sqrt(math.sqrt(fourth))


def _shift_loops(hidden: Array, move: Array) -> None:
    for i in range(hidden.size):
        x = -move[i]
        exp = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
        exp = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * exp)))))
        hidden[i] /= hidden[i] + (1.0 - hidden[i]) * exp


def _derive_loops(
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


def _follow_loops(
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
    """Compile for this processor, sums in any order; keep the result on disk where one can write."""
    if njit is None:
        return function
    options = {"error_model": "numpy", "fastmath": set(fastmath), "nogil": True}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # numba found nowhere to keep it
        return njit(**options)(function)


def _compiled_in_order(function: Callable[..., Any]) -> Any:
    """Compile so that sums stay as they are written, to the last bit."""
    return _compiled(function, fastmath=())


if njit is not None:
    _combine, _move, _shift = _compiled(_combine_loops), _compiled(_move_loops), _compiled(_shift_loops)
    _derive, _project, _follow = _compiled(_derive_loops), _compiled(_project_loops), _compiled(_follow_loops)


# ---- one code for both ----


@_compiled_in_order
def _smooth_again(day: Day, smoothing: float, n: int, reading: float) -> int:
    """Take reading n [ppm] and substitute back, Eq. (25): ``LocalSmoother.append``, bit for bit."""
    day.pivots[n], day.swept[n] = 1.0, reading
    if n > 0:
        day.pivots[n] = 1.0 + day.carried[n - 1] * day.pivots[n - 1]
        day.swept[n] = reading + day.carried[n - 1] * day.swept[n - 1]
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
def _direction(w: Weights, day: Day, k: int) -> Array:
    """Give G_k, by which z_k moves for each ppm that c_k moves."""
    if k >= w.settled:
        return w.along
    lags = np.ones(w.co2.shape[1])
    for j in range(lags.size - 2, -1, -1):
        lags[j] = day.carried[k - lags.size + 1 + j] * lags[j + 1]
    direction = np.zeros(w.coef.size)
    for part in range(w.co2_scale.size):
        _combine(w.co2[part], w.co2_scale[part] * lags, direction)
    return direction


@_compiled
def _from_all_inputs(w: Weights, day: Day, k: int, hidden: Array) -> None:
    """Write h(z_k), Eq. (16)."""
    horizon = w.feedback.shape[0]
    hidden[:] = w.bias
    for part in range(w.co2_scale.size):
        _combine(w.co2[part], w.co2_scale[part] * day.co2[k - horizon : k + 1], hidden)
    _combine(w.ventilation, w.ventilation_scale * day.ventilation[k - horizon : k + 1], hidden)
    _combine(w.feedback, w.feedback_scale * day.people[k - horizon : k], hidden)
    hidden[:] = 1.0 / (1.0 + np.exp(-np.maximum(hidden, -700.0)))


@_compiled
def _in_full(w: Weights, day: Day, old: Series, k: int) -> None:
    """Estimate minute k by Eq. (16) and lay its series anew."""
    horizon, row, place = w.feedback.shape[0], k % old.minute.size, k % old.hidden_minute.size
    past, hidden, terms = day.people[k - horizon : k], old.hidden[place], old.terms[row]
    along, rise, largest = _direction(w, day, k), day.co2[k] - old.co2[row], math.inf
    if old.minute[row] == k:
        old.steps[:] = past - old.past[row]
        largest = _move(along, rise, w.feedback, w.feedback_scale * old.steps, old.move)
    if largest <= MODERATE and old.hidden_minute[place] == k:
        _shift(hidden, old.move)
    else:
        _from_all_inputs(w, day, k, hidden)
    size = math.inf
    if largest < math.inf:
        size = _derive(hidden, w.coef, old.move, old.slopes, old.bends, terms)
    if abs(rise) < 1e-9 or size > 3.0 * abs(rise) * w.co2_size:  # no move that tells a direction: take G
        rise = 1.0
        old.steps[:] = 0.0
        size = _derive(hidden, w.coef, along, old.slopes, old.bends, terms)
    _project(w.single, old.slopes, old.gradient[row])
    _project(w.single, old.bends, old.mixed[row])
    old.gradient[row] *= w.feedback_scale
    old.mixed[row] *= w.feedback_scale / rise
    for order in range(1, 5):
        terms[order] /= rise**order
    old.tangent[row] = old.steps / rise
    old.size[row] = size / abs(rise)
    old.co2[row], old.past[row] = day.co2[k], past
    old.minute[row], old.hidden_minute[place] = k, k


@_compiled
def _revise(
    w: Weights, day: Day, old: Series, n: int, reading: float, limit: float
) -> tuple[int, int, float]:
    """Take reading n [ppm] and estimate anew what it changes, each step right to ``limit`` [people].

    Returns
    -------
    tuple of int, int and float
        How many minutes were estimated anew, how many of them in full, and how much errors can grow.
    """
    horizon = w.feedback.shape[0]
    still = 0.1 * limit / max(0.25 * w.coef_size * w.co2_size, 1e-300)
    start = max(_smooth_again(day, w.smoothing, n, reading), horizon)
    while start < n and abs(day.co2[start] - day.used[start]) <= still:
        start += 1
    in_full, growth = 0, 1.0
    for k in range(start, n + 1):
        row, before = k % old.minute.size, slice(k - horizon, k)
        doubt, people, grown = math.inf, 0.0, 0.0
        if old.minute[row] == k:
            rise = day.co2[k] - old.co2[row]
            step, square, grown = _follow(
                day.people[before], old.past[row], rise,
                old.tangent[row], old.gradient[row], old.mixed[row], day.growth[before],
            )  # fmt: skip
            along, across = old.size[row] * abs(rise), w.feedback_scale * w.feedback_size * math.sqrt(square)
            doubt = ALONG * along**5 + (MIXED * along**2 + ACROSS * across + ROUNDING) * across
            y, first, second, third, fourth = old.terms[row]
            people = y + rise * (first + rise * (second + rise * (third + rise * fourth))) + step
        if w.coef_size * doubt > limit:
            _in_full(w, day, old, k)
            people = old.terms[row, 0]
            grown = np.sum(old.gradient[row] * day.growth[before])
            in_full += 1
        day.people[k] = min(max(people, 0.0), w.most_people)
        day.used[k] = day.co2[k]
        day.growth[k] = 0.0  # a clamp stops an error
        if day.people[k] == people:
            day.growth[k] = min(max(grown + math.copysign(1.0, grown), -WORST), WORST)
            growth = max(growth, abs(day.growth[k]))
    return max(n + 1 - start, 0), in_full, growth


@_compiled
def _run(w: Weights, day: Day, n: int, hidden: Array) -> None:
    """Estimate the first n minutes, one after the other, from their CO2 as it is smoothed now."""
    for k in range(w.feedback.shape[0], n):
        _from_all_inputs(w, day, k, hidden)
        day.people[k] = min(max(np.dot(w.coef, hidden), 0.0), w.most_people)
        day.used[k] = day.co2[k]


class Revision:
    """One day of one room by Eq. (26): every reading revises what is thought of those before.

    Parameters
    ----------
    network : Network
        The trained estimator, one that feeds estimates back.
    tolerance : float
        How far an estimate may be from that of Eq. (26) written out [people].

    Attributes
    ----------
    revised, in_full : int
        How many minutes the last reading changed, and how many of them were computed in full.
    """

    def __init__(self, network: Network, *, tolerance: float) -> None:
        self._weights = network.live_weights
        self._day = Day(*np.zeros((len(Day._fields), 1024)))  # empty, also in the first horizon
        self._old = _no_series(self._weights)
        self._tolerance = tolerance
        self._growth = 1.0
        self._n = self.revised = self.in_full = 0

    def append(self, co2: float, ventilation: float) -> None:
        """Take the next reading [ppm], [0..1]."""
        if not math.isfinite(co2):
            raise InputError(f"co2 must be a finite number of ppm, got {co2}")
        n = self._n
        if n == self._day.people.size:
            self._day = Day(*(np.append(values, np.zeros(512)) for values in self._day))
        self._day.ventilation[n] = ventilation
        limit = self._tolerance / (2.0 * self._growth)
        self.revised, self.in_full, growth = _revise(
            self._weights, self._day, self._old, n, float(co2), limit
        )
        self._growth = max(growth, FORGET * self._growth)
        self._n += 1

    def resume(self, co2: Array, ventilation: Array) -> None:
        """Become the day that took these readings: Eq. (26) after the last of them is one run over all."""
        n = co2.size
        self._day = Day(*np.zeros((len(Day._fields), max(1024, n + 512))))
        self._day.ventilation[:n] = ventilation
        for k, reading in enumerate(co2.tolist()):
            _smooth_again(self._day, self._weights.smoothing, k, reading)
        _run(self._weights, self._day, n, np.zeros(self._weights.coef.size))
        self._n = n

    def copy(self) -> Revision:
        """Give the day as it is now, to go on with on its own."""
        other = copy(self)
        other._day = Day(*(values.copy() for values in self._day))
        other._old = Series._make(values.copy() for values in self._old)
        return other

    def __len__(self) -> int:
        return self._n

    @property
    def people(self) -> Array:
        """What is now thought of every reading of the day [people]: Eq. (26), step 2."""
        return self._day.people[: self._n]

    @property
    def co2_smoothed(self) -> Array:
        """The locally smoothed CO2 of the day [ppm]: Eq. (25)."""
        return self._day.co2[: self._n].copy()

    @property
    def co2_now(self) -> float:
        """The last of them [ppm]."""
        return float(self._day.co2[self._n - 1])


def live_weights(network: Network) -> Weights:
    """Take a network apart; a lean one adds P, I and D whenever it needs K, and so has none of its own."""
    parts = _lag_weights(network.random, network.layer)
    co2_scale = np.array([value for name, value in network.scale.items() if name not in "ov"])
    if not network.lean:
        parts, co2_scale = parts._replace(co2=np.tensordot(co2_scale, parts.co2, 1)[None]), np.ones(1)
    readings, carried = _settle(network.smoothing)
    width = network.layer.horizon + 1
    fading = carried ** np.arange(width - 1.0, -1.0, -1.0)
    along = co2_scale @ (fading @ parts.co2)
    return Weights(
        *parts,
        co2_scale=co2_scale,
        ventilation_scale=network.scale["v"],
        feedback_scale=network.scale["o"],
        along=along,
        coef=np.array(network.coef),
        settled=readings + width,
        smoothing=float(network.smoothing),
        most_people=float(network.most_people),
        co2_size=float(np.mean(along**10) ** 0.1),
        coef_size=float(np.linalg.norm(network.coef)) * math.sqrt(network.coef.size),
    )


_PARTS: WeakKeyDictionary[RandomLayer, dict[Layer, LagWeights]] = WeakKeyDictionary()


def _lag_weights(random: RandomLayer, layer: Layer) -> LagWeights:
    """Give the parts of a random layer, the same ones to all who share it."""
    parts = _PARTS.setdefault(random, {})
    if layer not in parts:
        parts[layer] = _take_apart(random, layer)
    return parts[layer]


def _take_apart(random: RandomLayer, layer: Layer) -> LagWeights:
    """Find the weights of each lag: features are linear, so readings of 1 at one lag tell them."""
    nothing, units, places = np.zeros(layer.horizon + 1), np.eye(layer.horizon + 1), layer.places()
    of_units = [layer.groups(unit, nothing, nothing) for unit in units]
    co2 = [
        np.vstack([groups[name] for groups in of_units]) @ random.weights[places[name]]
        for name in places
        if name not in "ov"
    ]
    feedback = np.array(random.weights[places["o"]])
    return LagWeights(
        co2=np.array(co2),
        ventilation=np.array(random.weights[places["v"]]),
        feedback=feedback,
        single=feedback.astype(np.float32),
        bias=np.array(random.bias),
        feedback_size=float(np.linalg.norm(feedback, 2)) / math.sqrt(random.bias.size),
    )


@lru_cache
def _settle(smoothing: float, most: int = 100_000) -> tuple[int, float]:
    """Count the readings until the pivots of the smoother stay as they are, and give b from then on."""
    q = 1.0
    for n in range(most):
        carried = smoothing / (smoothing + q)
        settled, q = 1.0 + carried * q == q, 1.0 + carried * q
        if settled:
            return n, carried
    return 1 << 40, carried  # so much smoothing that no day is long enough


def _no_series(w: Weights) -> Series:
    """Make room for as many minutes as a change takes to fade by e^36, and by e^5 for their neurons."""
    horizon, n_hidden = w.feedback.shape
    fading = -math.log(_settle(w.smoothing)[1]) if w.smoothing > 0 else math.inf
    rows, places = min(math.ceil(36 / fading) + 2, 2048), min(math.ceil(5 / fading) + 2, 128)
    places = min(places, LEAN_PLACES) if w.co2_scale.size > 1 else places
    return Series(
        minute=np.full(rows, -1),
        co2=np.zeros(rows),
        size=np.zeros(rows),
        terms=np.zeros((rows, 5)),
        past=np.zeros((rows, horizon)),
        tangent=np.zeros((rows, horizon)),
        gradient=np.zeros((rows, horizon), np.float32),
        mixed=np.zeros((rows, horizon), np.float32),
        hidden_minute=np.full(places, -1),
        hidden=np.zeros((places, n_hidden)),
        move=np.zeros(n_hidden),
        slopes=np.zeros(n_hidden, np.float32),
        bends=np.zeros(n_hidden, np.float32),
        steps=np.zeros(horizon),
    )


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Compile the kernel, or load what was compiled before, so that no reading has to wait for it.

    The first day of the paper's estimator in a process calls this; compiling takes some 10 seconds once
    per installation, loading some tenths of one.
    """
    random = RandomLayer(np.ones((5, 1)), np.ones(1))
    layer = Layer("elm", horizon=1, stride=1)
    scale = {"c": 1.0, "o": 1.0, "v": 1.0}
    network = Network(layer, smoothing=1.0, most_people=1.0, random=random, scale=scale, coef=np.ones(1))
    weights = live_weights(network)
    day = Day(*np.zeros((len(Day._fields), 4)))
    _revise(weights, day, _no_series(weights), 1, 400.0, 1e-6)
    _smooth_again(day, 1.0, 2, 400.0)
    _run(weights, day, 3, np.zeros(1))
