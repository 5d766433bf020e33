"""FS-ELM with direct links against its reference implementation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from dense import linked_outputs
from occupair.room.linked_elm import LINK_RIDGES, N_LAYERS, RIDGES, fit_layer, fit_read_outs, ridge_pairs

SIZES = (2, 3, 1)
GAINS = np.array([1.0, 0.5, 10.0, 1 / 80, 100.0, 1.0])


def columns_of(rng, n=90):
    return rng.normal([0, 5, -1, 300, 0.1, 2], [1, 2, 0.1, 80, 0.01, 1], (n, 6))


def layer_for(*, z_max=(1.5, 1.0, 0.5), n_hidden=12, seed=3):
    return fit_layer(GAINS, SIZES, z_max, n_hidden=n_hidden, seed=seed)


def read_out_of_one_layer(outputs, targets, pair, start):
    """Ridge regression towards a start, by least squares with additional rows."""
    n_hidden = outputs.shape[1] - 7
    root = np.diag(np.sqrt([pair[0]] * n_hidden + [pair[1]] * 6 + [1e-3]))
    rows = np.vstack([outputs, root]), np.vstack([targets, root @ start])
    return np.linalg.lstsq(*rows, rcond=None)[0]


def reference_read_outs(layer, x, targets, pair, starts=None):
    """Mean over layers with a third of the neurons each; all have the links and the constant."""
    h, found = layer.outputs(x), np.zeros((layer.n_outputs, targets.shape[1]))
    for k, own in enumerate(np.array_split(np.arange(layer.n_hidden), 3)):
        columns = [*own, *range(layer.n_hidden, layer.n_outputs)]
        start = np.zeros((len(columns), targets.shape[1])) if starts is None else starts[k]
        found[columns] += read_out_of_one_layer(h[:, columns], targets, pair, start) / 3
    return found


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@settings(max_examples=25)
def test_outputs_match_reference_implementation(seed, n_hidden):
    x = columns_of(np.random.default_rng(0), n=7)
    layer = layer_for(seed=seed, n_hidden=n_hidden)
    reference = np.array([linked_outputs(y, layer) for y in x])
    np.testing.assert_allclose(layer.outputs(x), reference, rtol=1e-9, atol=1e-12)


def test_links_are_features_times_gains_and_constant_is_one():
    x = columns_of(np.random.default_rng(1))
    outputs = layer_for().outputs(x)
    np.testing.assert_allclose(outputs[:, 12:18], x * GAINS)
    assert (outputs[:, 18] == 1).all()


def test_influence_of_a_group_does_not_depend_on_its_size():
    """Independent features of unit size: the input of a neuron has a standard deviation of z_max / sqrt(3).

    The random weights are uniform from -1 to 1, with variance 1/3, and the scale of a group is z_max divided
    by the root of its number of features.
    """
    x = np.random.default_rng(2).normal(0, 1 / GAINS, (500, 6))
    layer = layer_for(z_max=(1.5, 0.9, 0.3), n_hidden=4000)
    R = np.random.RandomState(3).uniform(-1, 1, (4000, 6))
    for z_max, columns in zip((1.5, 0.9, 0.3), ([0, 1], [2, 3, 4], [5]), strict=True):
        z = (layer.alphas * x)[:, columns] @ R[:, columns].T
        assert z.std() == pytest.approx(z_max / np.sqrt(3), rel=0.1)


def test_scales_worked_by_hand():
    layer = layer_for()
    influence = np.array([1.5 / np.sqrt(2)] * 2 + [1 / np.sqrt(3)] * 3 + [0.5])
    np.testing.assert_allclose(layer.alphas, GAINS * influence)
    assert (layer_for(z_max=(1.0, 0.0, 1.0)).alphas[2:5] == 0).all()


def test_layers_share_links_and_divide_neurons():
    own = layer_for(n_hidden=8).layer_outputs()
    assert len(own) == N_LAYERS == 3
    links = list(range(8, 15))
    assert [one.tolist() for one in own] == [[0, 1, 2, *links], [3, 4, 5, *links], [6, 7, *links]]


@pytest.mark.parametrize("n_hidden", [1, 2, 12, 13])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_read_outs_equal_ridge_regression_for_every_pair(n_targets, n_hidden):
    rng = np.random.default_rng(4)
    x, targets = columns_of(rng), rng.normal(size=(90, n_targets))
    layer, pairs = layer_for(n_hidden=n_hidden), ridge_pairs()
    assert pairs == list(product(RIDGES, LINK_RIDGES))
    for pair, coef in zip(pairs, fit_read_outs(layer, x, targets, pairs), strict=True):
        np.testing.assert_allclose(coef, reference_read_outs(layer, x, targets, pair), atol=1e-8)


def test_read_outs_shrink_towards_start_and_then_towards_zero():
    rng = np.random.default_rng(5)
    x, targets, starts = columns_of(rng), rng.normal(size=(90, 2)), rng.normal(size=(3, 11, 2))
    layer, pairs = layer_for(), ridge_pairs((0.5, 20.0))
    found = fit_read_outs(layer, x, targets, pairs, start=starts)
    assert len(found) == 2 * len(pairs) == 12
    for k, pair in enumerate(pairs):
        towards = reference_read_outs(layer, x, targets, pair, starts)
        np.testing.assert_allclose(found[k], towards, atol=1e-8)
        towards = reference_read_outs(layer, x, targets, pair)
        np.testing.assert_allclose(found[len(pairs) + k], towards, atol=1e-8)


def test_strong_ridge_keeps_start():
    rng = np.random.default_rng(6)
    x, targets, starts = columns_of(rng), rng.normal(size=(90, 1)), rng.normal(size=(3, 11, 1))
    layer = layer_for()
    kept, zero = fit_read_outs(layer, x, targets, [(1e12, 1e12)], start=starts)
    np.testing.assert_allclose(kept[:12, 0], starts[:, :4, 0].ravel() / 3, atol=1e-6)  # own neurons
    np.testing.assert_allclose(kept[12:18, 0], starts[:, 4:10, 0].mean(axis=0), atol=1e-6)  # shared links
    np.testing.assert_allclose(zero[:18], 0, atol=1e-6)
    assert zero[18, 0] == pytest.approx(targets.mean(), rel=1e-3)  # the constant has almost no ridge


def test_too_small_ridge_raises():
    x = columns_of(np.random.default_rng(7))
    layer = layer_for(z_max=(0, 0, 0), n_hidden=40)  # forty identical neurons
    with pytest.raises(
        oc.InputError, match=r"^ridge=1e-40 is too small: the training data are singular; increase it$"
    ):
        fit_read_outs(layer, x, x[:, :1], [(1e-40, 1.0)])


def test_blocks_equal_all_rows_at_once(monkeypatch):
    rng = np.random.default_rng(8)
    x, targets = columns_of(rng), rng.normal(size=(90, 2))
    layer = layer_for()
    (coef,) = fit_read_outs(layer, x, targets, [(1.0, 1.0)])
    monkeypatch.setattr("occupair.room.linked_elm._ROWS_PER_BLOCK", 32)  # 90 rows are two blocks and a rest
    np.testing.assert_allclose(fit_read_outs(layer, x, targets, [(1.0, 1.0)])[0], coef, rtol=1e-9)


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(9)
    x, targets = columns_of(rng, n=40), rng.normal(size=(40, 2))
    often = rng.integers(1, 4, 40)
    layer = layer_for()
    weighted = fit_read_outs(layer, x, targets, [(1.0, 1.0), (0.1, 100.0)], often.astype(float))
    repeated = fit_read_outs(
        layer, np.repeat(x, often, axis=0), np.repeat(targets, often, axis=0), [(1.0, 1.0), (0.1, 100.0)]
    )
    for ours, theirs in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
