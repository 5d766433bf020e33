"""The room equation: people from inputs, for one room or for many rooms at once.

The estimate is the weighted mean of its members (``occupair.room.stack``), set to 0 where nobody is present.
In closed hours it is 0, or the mass balance if that is clear evidence of people. ``RoomModel`` evaluates it
for N inputs of one room, and ``RoomBatch`` for one input of each of N rooms. Each parameter has a trailing
axis of rooms, of length 1 for a single room, and broadcasts over inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from occupair.elm.hidden_layer import random_layer
from occupair.room.boosted_trees import TreeEvaluator, tree_columns
from occupair.room.evidence import ClearEvidence, is_started
from occupair.room.features import COLUMN_SETS, FeatureSettings, room_features, stack_feature_settings
from occupair.room.inputs import Inputs
from occupair.room.kernel_regression import KernelEvaluator
from occupair.room.lags import lags_in_readings
from occupair.room.linked_elm import linked_outputs
from occupair.room.mass_balance import BalanceEvaluator, BaseLevel, stack_base_levels, take_rooms
from occupair.room.open_hours import minute_of_day
from occupair.room.time_profile import step_of_day

if TYPE_CHECKING:
    from occupair.room.model import Refinement, RoomModel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
T = TypeVar("T")

_INPUTS_PER_BLOCK = 2048  # limits the memory of an evaluation

FEW_PEOPLE = 0.1
"""Share of the maximum occupancy below which presence decides between an estimate and an empty room."""


class RoomEquation:
    """The equation with the parameters of one or many rooms.

    Parameters
    ----------
    models : sequence of RoomModel
        Trained rooms with the same interval and lags; several must share the random layers.
    """

    def __init__(self, models: Sequence[RoomModel]) -> None:
        first = models[0]
        lags = lags_in_readings(first.lags, first.interval)
        balances = [{one.lag: one.balance for one in model.refinements} for model in models]
        self._column_set, self._n_lags = first.column_set, len(lags)
        self._balances = BalanceEvaluator(
            [[room[lag] for lag in lags] for room in balances],
            with_parts=COLUMN_SETS[first.column_set].n_parts > 0,
        )
        self._own_balance = [lags.index(one.lag) for one in first.refinements]
        trees = [[one.trees for one in model.refinements] for model in models]
        self._trees = TreeEvaluator(_present(trees)) if first.refinements[0].trees is not None else None
        kernels = [[one.kernel for one in model.refinements] for model in models]
        self._kernels = (
            KernelEvaluator(_present(kernels)) if first.refinements[0].kernel is not None else None
        )
        profiles = [model.profile.people for model in models if model.profile is not None]
        self._profiles = np.array(profiles) if profiles else None
        self._networks = _networks_by_layer(models)
        self._is_open = np.array([model.hours.is_open for model in models])
        self._lags = np.array([[first.interval * one.lag] for one in first.refinements])  # [min]
        self._evidence = ClearEvidence([model.evidence_thresholds for model in models], len(lags))
        self._parameters = _Parameters(
            base=stack_base_levels([[one.balance.base for one in model.refinements] for model in models]),
            features=stack_feature_settings(
                [[one.features for one in model.refinements] for model in models]
            ),
            threshold=np.array([[one.threshold for one in model.refinements] for model in models]).T,
            weights=np.array([[one.weights for one in model.refinements] for model in models]).transpose(
                2, 1, 0
            ),
            max_people=np.array([model.max_people for model in models]),
            limit=np.array([_limit(model) for model in models]),
        )

    def people(self, inputs: Inputs, rooms: Indices | None = None) -> tuple[Array, Array]:
        """Estimate the people with every refinement.

        Parameters
        ----------
        inputs : Inputs
            N inputs.
        rooms : array of int of shape (N,), optional
            Room of each input. None: all inputs are of the only room.

        Returns
        -------
        people, people_if_open : array of shape (R, N)
            Estimates, and estimates without regard to the open hours [people]. In closed hours the estimate
            is the mass balance if that is clear evidence of people (``occupair.room.evidence``), else 0.
        """
        parts = [
            slice(first, first + _INPUTS_PER_BLOCK) for first in range(0, len(inputs), _INPUTS_PER_BLOCK)
        ]
        if len(parts) < 2:
            return self._people(inputs, rooms)
        found = [self._people(inputs.take(part), None if rooms is None else rooms[part]) for part in parts]
        people, if_open = (np.concatenate(values, axis=1) for values in zip(*found, strict=True))
        return people, if_open

    def _people(self, inputs: Inputs, rooms: Indices | None) -> tuple[Array, Array]:
        """Estimate the people for inputs that fit into the cache, see ``people``."""
        own = None if rooms is None else as_slice(rooms)
        parameters = self._parameters if own is None else self._parameters.take(own)
        base, features, threshold, weights, max_people, limit = parameters
        balance = self._balances.people(inputs, own)
        unclamped = balance[: self._n_lags].copy()
        balance[: self._n_lags] = _clamp(unclamped, limit)
        columns = room_features(inputs, base, features, balance, self._column_set)
        read = np.empty((2, *columns.T.shape[1:]))
        for which, networks in self._networks:
            read[:, which] = networks.read(columns.T[:, which], own)
        presence = read[1]
        people = weights[0] * _clamp(read[0], limit) + weights[1] * balance[self._own_balance]
        if self._trees is not None:
            before = np.asarray(features.lag) * inputs.interval
            for_trees = tree_columns(columns.T, inputs.clock, before, len(balance))
            people += weights[2] * _clamp(self._trees.people(for_trees, own), limit)
        if self._kernels is not None:
            people += weights[3] * _clamp(self._kernels.people(columns.T, own), limit)
        if self._profiles is not None:
            room, weekend = 0 if rooms is None else rooms, inputs.clock.weekend.astype(int)
            profile = self._profiles[room, weekend, step_of_day(inputs.clock, self._lags)]
            people += weights[4] * _clamp(profile, limit)
        if_open = np.where(is_present(people, presence, threshold, max_people), people, 0.0)
        is_open = self.is_open(inputs, rooms)
        if is_open.all():
            return if_open, if_open
        is_clear = self._evidence.at_lags(unclamped, inputs, own)[self._own_balance]
        is_clear &= is_started(inputs.clock, self._lags)
        if_closed = np.where(is_clear, balance[self._own_balance], 0.0)
        return (
            np.where(is_open, if_open, if_closed),
            np.where(is_open, if_open, np.maximum(if_open, if_closed)),
        )

    def is_open(self, inputs: Inputs, rooms: Indices | None = None) -> NDArray[np.bool_]:
        """Whether the estimate of each refinement is for a time in the open hours, shape (R, N)."""
        minute = minute_of_day(inputs.clock, self._lags)
        room = 0 if rooms is None else rooms
        return np.asarray(self._is_open[room, inputs.clock.weekend.astype(int), minute])


class _Parameters(NamedTuple):
    """Parameters of R refinements in n rooms."""

    base: BaseLevel  # arrays of shape (R, n)
    features: FeatureSettings  # arrays of shape (R, n)
    threshold: Array  # shape (R, n)
    weights: Array  # of the members, shape (n_members, R, n)
    max_people: Array  # shape (n,)
    limit: Array  # of the estimates, shape (n,)

    def take(self, rooms: slice | Indices) -> _Parameters:
        return _Parameters(
            take_rooms(self.base, rooms),
            FeatureSettings(*(np.asarray(values)[:, rooms] for values in self.features)),
            self.threshold[:, rooms],
            self.weights[:, :, rooms],
            self.max_people[rooms],
            self.limit[rooms],
        )


class _Networks:
    """Networks of people and presence of R refinements with the same random layer, in one or many rooms."""

    def __init__(self, rooms: Sequence[Sequence[Refinement]]) -> None:
        layer = rooms[0][0].layer
        self._weights, bias = random_layer(layer.seed, layer.n_hidden, sum(layer.sizes))
        self._bias = bias[:, np.newaxis]

        def by_room(values: Callable[[Refinement], Array]) -> Array:
            """Return an array of shape (..., R, n_rooms)."""
            return np.ascontiguousarray(np.array([[values(one) for one in room] for room in rooms]).T)

        self._alphas = by_room(lambda one: one.layer.alphas)
        self._mean, self._scale = by_room(lambda one: one.layer.mean), by_room(lambda one: one.layer.scale)
        self._read_outs = np.array([by_room(lambda one: one.coef), by_room(lambda one: one.presence)])

    def read(self, features: Array, rooms: slice | Indices | None) -> Array:
        """Return people and presence, shape (2, R, N), for features of shape (n_features, R, N)."""
        own, n = slice(None) if rooms is None else rooms, len(features)
        links = ((features - self._mean[:, :, own]) * self._scale[:, :, own]).reshape(n, -1)
        scaled = (features * self._alphas[:, :, own]).reshape(n, -1)
        outputs = linked_outputs(self._weights, self._bias, scaled, links).reshape(-1, *features.shape[1:])
        return np.asarray(np.einsum("tjrn,jrn->trn", self._read_outs[:, :, :, own], outputs))


def _networks_by_layer(models: Sequence[RoomModel]) -> list[tuple[list[int], _Networks]]:
    """Return the networks of the refinements, and their numbers, for each random layer."""
    groups: dict[tuple[int, int], list[int]] = {}
    for k, one in enumerate(models[0].refinements):
        groups.setdefault((one.layer.seed, one.layer.n_hidden), []).append(k)
    return [
        (which, _Networks([[model.refinements[k] for k in which] for model in models]))
        for which in groups.values()
    ]


def as_slice(rooms: Indices) -> slice | Indices:
    """Return consecutive room numbers as a slice, which selects without copying."""
    first = int(rooms[0])
    is_consecutive = np.array_equal(rooms, np.arange(first, first + rooms.size))
    return slice(first, first + rooms.size) if is_consecutive else rooms


def _present(rooms: Sequence[Sequence[T | None]]) -> list[list[T]]:
    return [[one for one in members if one is not None] for members in rooms]


def is_present(
    people: Array, presence: Array, threshold: float | Array, max_people: float | Array
) -> NDArray[np.bool_]:
    """Whether anybody is present; presence decides where the estimate is small."""
    return (presence >= threshold) | (people >= FEW_PEOPLE * max_people)


def _limit(model: RoomModel) -> float:
    return model.max_people if model.people_limit is None else model.people_limit


def _clamp(people: Array, limit: Array) -> Array:
    return np.minimum(np.maximum(people, 0.0), limit)
