"""Boosted trees as arrays against scikit-learn's own evaluation."""

import json

import numpy as np
import pytest
from dense_fit import BOOSTING, few_values
from sklearn.ensemble import HistGradientBoostingRegressor

import occupair as oc
from dense import sum_of_trees
from occupair.room import boosted_trees as module
from occupair.room.boosted_trees import (
    DEPTH,
    N_LEAVES,
    N_NODES,
    N_TREES,
    BoostedTrees,
    TreeEvaluator,
    fit_trees,
    tree_columns,
)
from occupair.room.inputs import Clock
from occupair.room.model_json import _trees_from_json, _trees_to_json

N_COLUMNS = 6


def samples(seed=0, n=900):
    """Columns in single precision, and people that depend on them in steps."""
    rng = np.random.default_rng(seed)
    columns = rng.normal([0, 400, 0.1, 5, 0, 700], [1, 90, 0.01, 3, 1e-3, 300], (n, N_COLUMNS))
    columns[:, 3] = np.round(columns[:, 3])  # many equal values
    people = 4.0 * (columns[:, 0] > 0.3) + (columns[:, 1] - 400) / 60 + 2 * (columns[:, 5] > 600)
    return columns.astype(np.float32), np.clip(people + rng.normal(0, 0.3, n), 0, None)


def boosting_of(columns, people, weight=None):
    """The regressor with the settings of the estimator, from scikit-learn alone."""
    return HistGradientBoostingRegressor(**BOOSTING).fit(
        columns if weight is None else few_values(columns), people, sample_weight=weight
    )


@pytest.fixture(scope="module")
def trees():
    return fit_trees(*samples())


def some_trees(seed, n_trees=5, n_columns=N_COLUMNS):
    """Arbitrary complete trees."""
    rng = np.random.default_rng(seed)
    return BoostedTrees(
        float(rng.normal()),
        rng.integers(0, n_columns, (n_trees, N_NODES)).astype(np.int16),
        rng.normal(size=(n_trees, N_NODES)).astype(np.float32),
        rng.normal(size=(n_trees, N_LEAVES)).astype(np.float32),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_people_equal_scikit_learn(weighted):
    columns, people = samples()
    weight = np.random.default_rng(1).uniform(0.1, 1, len(people)) if weighted else None
    found, theirs = fit_trees(columns, people, weight), boosting_of(columns, people, weight)
    for seed in (0, 5):  # training samples, and others
        other = samples(seed)[0]
        np.testing.assert_allclose(found.people(other.T), theirs.predict(other), rtol=0, atol=1e-5)


def test_shapes_and_precision(trees):
    assert (trees.feature.shape, trees.feature.dtype) == ((N_TREES, N_NODES), np.int16)
    assert (trees.threshold.shape, trees.threshold.dtype) == ((N_TREES, N_NODES), np.float32)
    assert (trees.value.shape, trees.value.dtype) == ((N_TREES, N_LEAVES), np.float32)
    assert (N_NODES, N_LEAVES) == (2**DEPTH - 1, 2**DEPTH) == (7, 8)
    assert trees.start == pytest.approx(samples()[1].mean())


def test_value_at_a_threshold_goes_left(trees):
    """Columns in single precision on a threshold, and next to it, stay on the side of scikit-learn."""
    columns, people = samples()
    theirs = boosting_of(columns, people)
    base = columns[:40].copy()
    for (predictor,) in theirs._predictors[:30]:
        nodes = predictor.nodes[predictor.nodes["is_leaf"] == 0]
        for feature, threshold in zip(nodes["feature_idx"], nodes["num_threshold"], strict=True):
            near = np.float32(threshold)
            for value in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-1e9))):
                base[:, feature] = value
                np.testing.assert_allclose(trees.people(base.T), theirs.predict(base), rtol=0, atol=1e-5)


def test_people_equal_walk_through_every_tree(trees):
    columns = samples(3, n=50)[0]
    for one in (trees, some_trees(0), some_trees(1, n_trees=1)):
        expected = [sum_of_trees(one, row) for row in columns]
        np.testing.assert_allclose(one.people(columns.T), expected, rtol=0, atol=1e-9)


def test_tree_worked_by_hand():
    # Column 0 above 1? Left: column 1 above 2? Right: column 1 above 3? The last comparisons are of column 2.
    feature = np.array([[0, 1, 1, 2, 2, 2, 2]], dtype=np.int16)
    threshold = np.array([[1, 2, 3, 4, 5, 6, 7]], dtype=np.float32)
    one = BoostedTrees(100.0, feature, threshold, np.arange(8, dtype=np.float32)[np.newaxis])
    rows = {(1, 2, 4): 0, (1, 2, 4.5): 1, (0, 3, 5): 2, (0, 3, 5.5): 3}
    rows |= {(2, 3, 6): 4, (2, 3, 7): 5, (2, 4, 7): 6, (2, 4, 8): 7}
    found = one.people(np.array(list(rows), dtype=np.float32).T)
    assert found.tolist() == [100.0 + leaf for leaf in rows.values()]


def test_nodes_that_do_not_split():
    """With few samples or equal columns, trees are stumps or single leaves."""
    columns, people = samples(n=130)
    stumps = fit_trees(columns, people)  # two leaves of 60 samples at most
    is_split = stumps.threshold < np.finfo(np.float32).max
    assert is_split.any()
    assert (is_split.sum(axis=1) <= 1).all()
    theirs = boosting_of(columns, people)
    far = samples(4)[0] * np.float32(1e6)
    np.testing.assert_allclose(stumps.people(far.T), theirs.predict(far), rtol=0, atol=1e-5)
    same = fit_trees(np.ones_like(columns), people)
    np.testing.assert_allclose(same.people(far.T), people.mean(), atol=1e-5)
    few = fit_trees(columns[:3], people[:3])
    np.testing.assert_allclose(few.people(far.T), people[:3].mean(), atol=1e-5)


def test_many_samples_are_thinned_evenly(monkeypatch):
    columns, people = samples()
    weight = np.random.default_rng(2).uniform(0.5, 1, 900)
    monkeypatch.setattr(module, "_MAX_SAMPLES", 300)
    found, theirs = fit_trees(columns, people, weight), boosting_of(columns[::3], people[::3], weight[::3])
    np.testing.assert_allclose(found.people(columns.T), theirs.predict(columns), rtol=0, atol=1e-5)
    monkeypatch.setattr(module, "_MAX_SAMPLES", 899)  # never more
    half = fit_trees(columns, people)
    expected = boosting_of(columns[::2], people[::2]).predict(columns)
    np.testing.assert_allclose(half.people(columns.T), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_equal_weights_equal_no_weights(weight):
    """Also weights of 0: a fold may have no head counts at some lag, which are then 0."""
    columns, people = samples()
    found = fit_trees(columns, people, np.full(900, weight))
    np.testing.assert_array_equal(found.people(columns.T), fit_trees(columns, people).people(columns.T))
    assert not fit_trees(columns, np.zeros(900), np.full(900, weight)).people(columns.T).any()


def test_weighted_samples_need_no_weighted_quantiles(monkeypatch):
    """They would take scikit-learn ten times as long as the trees."""
    columns, people = samples()
    weight = np.random.default_rng(1).uniform(0.1, 1, 900)
    expected = fit_trees(columns, people, weight)
    monkeypatch.delattr(
        "sklearn.ensemble._hist_gradient_boosting.binning._weighted_percentile", raising=False
    )
    again = fit_trees(columns, people, weight)
    np.testing.assert_array_equal(again.threshold, expected.threshold)


@pytest.mark.parametrize("seed", range(3))
def test_nearly_equal_weights_give_nearly_the_same_trees(seed):
    columns, people = samples(seed)
    weight = 1 + 1e-3 * np.random.default_rng(seed).random(900)
    errors = [
        np.sqrt(np.mean((fit_trees(columns, people, one).people(columns.T) - people) ** 2))
        for one in (None, weight)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=0.05)


def test_same_samples_give_same_trees(trees):
    again = fit_trees(*samples())
    for name in ("start", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trees, name))


@pytest.mark.parametrize("n_refinements", [1, 3])
@pytest.mark.parametrize("block", [2048, 7])
def test_many_rooms_equal_each_room_alone(monkeypatch, n_refinements, block):
    rooms = [[some_trees(10 * n + r) for r in range(n_refinements)] for n in range(4)]
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(N_COLUMNS, n_refinements, 40)).astype(np.float32)
    expected = np.array(
        [[one.people(columns[:, r]) for r, one in enumerate(room)] for room in rooms]
    )  # shape (room, refinement, input)
    monkeypatch.setattr(module, "_ROWS_PER_BLOCK", block)
    evaluator, which = TreeEvaluator(rooms), rng.integers(0, 4, 40)
    found = evaluator.people(columns, which)
    np.testing.assert_array_equal(found, expected[which, :, np.arange(40)].T)
    found = evaluator.people(columns[:, :, :3], slice(1, 4))
    np.testing.assert_array_equal(found, expected[[1, 2, 3], :, [0, 1, 2]].T)
    alone = TreeEvaluator(rooms[2:3]).people(columns)
    np.testing.assert_array_equal(alone, expected[2])


def test_columns_are_features_without_people_and_minute_at_lag():
    features = np.arange(20.0).reshape(5, 4) / 3
    clock = Clock(np.array([0.0, 5.0, 600.5, 1439.0]), np.zeros(4))
    columns = tree_columns(features, clock, 10.0, n_people=2)
    assert (columns.shape, columns.dtype) == ((4, 4), np.float32)
    np.testing.assert_allclose(columns[:3], features[:3], rtol=0, atol=6e-7)
    assert columns[3].tolist() == [1430.0, 1435.0, 590.5, 1429.0]  # before midnight, not below 0
    both = tree_columns(np.stack([features, features], axis=1), clock, np.array([[0.0], [10.0]]), n_people=2)
    np.testing.assert_array_equal(both[:, 1], columns)
    assert both[3, 0].tolist() == clock.minute.tolist()


@pytest.mark.parametrize("level", [0.0, 1.0, 1234.5])
def test_rounding_errors_of_features_do_not_reach_columns(level):
    """Constant CO2 has slopes of some 1e-14 with either sign, between which a tree must not choose."""
    features = level + 1e-12 * np.random.default_rng(3).normal(size=(5, 500))
    columns = tree_columns(features, Clock(np.zeros(500), np.zeros(500)), 0.0, 1)
    assert len(np.unique(columns[:4])) == 1


def test_unknown_layout_of_scikit_learn_raises(monkeypatch):
    monkeypatch.setattr(module, "_as_arrays", lambda nodes: ([0] * 7, [0.0] * 7, [1.0] * 8))
    with pytest.raises(
        oc.InputError,
        match=r"^boosted trees cannot be read from this version of scikit-learn: use another version$",
    ):
        fit_trees(*samples())


def test_trees_survive_json(trees):
    values = json.loads(json.dumps(_trees_to_json(trees)))
    loaded = _trees_from_json(values, N_COLUMNS)
    columns = samples(7)[0].T
    np.testing.assert_array_equal(loaded.people(columns), trees.people(columns))
    for name in ("feature", "threshold", "value"):
        assert getattr(loaded, name).dtype == getattr(trees, name).dtype
        np.testing.assert_array_equal(getattr(loaded, name), getattr(trees, name))
    assert _trees_from_json(None, N_COLUMNS) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v["feature"][0].__setitem__(0, N_COLUMNS), "must be an integer from 0 to 5, got 6"),
        (lambda v: v["feature"][0].__setitem__(0, -1), "must be an integer from 0 to 5, got -1"),
        (lambda v: v["feature"][0].__setitem__(0, 1.0), r"must be an integer from 0 to 5, got 1\.0"),
        (lambda v: v["feature"][0].pop(), "inhomogeneous|must have 7 comparisons"),
        (lambda v: v.update(feature=[[0] * 6] * 5), "each tree must have 7 comparisons"),
        (lambda v: v.update(feature=[]), "each tree must have 7 comparisons"),
        (lambda v: v.update(feature=[[0] * 7] * 1001), "there must be at most 1000 trees, got 1001"),
        (lambda v: v["threshold"].pop(), r"must be finite numbers of shape \(5, 7\)"),
        (lambda v: v["threshold"][0].__setitem__(0, None), r"must be finite numbers of shape \(5, 7\)"),
        (lambda v: v["value"][0].pop(), "inhomogeneous|must be finite numbers"),
        (lambda v: v["value"][0].__setitem__(0, float("inf")), r"must be finite numbers of shape \(5, 8\)"),
        (lambda v: v["value"][0].__setitem__(0, 1e300), "must be numbers in single precision"),
        (lambda v: v["threshold"][0].__setitem__(0, -1e39), "must be numbers in single precision"),
        (lambda v: v.update(start="x"), "must be a number, got 'x'"),
        (lambda v: v.update(start=float("nan")), "number out of range: nan"),
    ],
)
def test_invalid_trees_are_rejected(change, message):
    values = _trees_to_json(some_trees(0))
    change(values)
    with pytest.raises((ValueError, TypeError), match=message):
        _trees_from_json(values, N_COLUMNS)
