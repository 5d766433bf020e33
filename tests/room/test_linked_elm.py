"""FS-ELM with direct links against its reference implementation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occupair as oc
from dense import linked_outputs
from occupair.room.linked_elm import LINK_RIDGES, RIDGES, fit_layer, fit_read_outs, ridge_pairs

SIZES = (2, 3, 1)


def columns_of(rng, n=90):
    return rng.normal([0, 5, -1, 300, 0.1, 2], [1, 2, 0.1, 80, 0.01, 1], (n, 6))


def layer_for(x, *, z_max=(1.5, 1.0, 0.5), n_hidden=12, seed=3):
    return fit_layer(x, SIZES, z_max, n_hidden=n_hidden, seed=seed)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@settings(max_examples=25)
def test_outputs_match_reference_implementation(seed, n_hidden):
    x = columns_of(np.random.default_rng(0), n=7)
    layer = layer_for(x, seed=seed, n_hidden=n_hidden)
    reference = np.array([linked_outputs(y, layer) for y in x])
    np.testing.assert_allclose(layer.outputs(x), reference, rtol=1e-9, atol=1e-12)


def test_links_are_standardised_and_constant_features_are_zero():
    x = columns_of(np.random.default_rng(1))
    x[:, 5] = 7.3
    links = layer_for(x).outputs(x)[:, 12:18]
    np.testing.assert_allclose(links[:, :5].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(links[:, :5].var(axis=0), 1)
    assert not links[:, 5].any()


@given(st.integers(0, 1000), st.lists(st.floats(0.01, 3), min_size=3, max_size=3))
@settings(max_examples=25)
def test_group_input_to_neurons_is_limited_to_z_max(seed, z_max):
    x = columns_of(np.random.default_rng(seed))
    layer = layer_for(x, z_max=z_max, seed=seed)
    R = np.random.RandomState(seed).uniform(-1, 1, (12, 6))
    for group, columns in enumerate(([0, 1], [2, 3, 4], [5])):
        largest = np.abs(layer.alphas[group] * x[:, columns] @ R[:, columns].T).max()
        assert largest == pytest.approx(z_max[group], rel=1e-9)


@pytest.mark.parametrize("tiny", [0.0, 1e-14])
def test_groups_of_zeros_and_rounding_errors_have_scale_zero(tiny):
    rng = np.random.default_rng(2)
    x = columns_of(rng)
    x[:, 2:5] = tiny * rng.normal(size=(90, 3))
    layer = layer_for(x)
    assert layer.alphas[1] == 0
    assert (layer.alphas[[0, 2]] > 0).all()
    assert (layer.scale[2:5] == 0).all()


@pytest.mark.parametrize("n_targets", [1, 2])
def test_read_outs_equal_ridge_regression_for_every_pair(n_targets):
    rng = np.random.default_rng(4)
    x = columns_of(rng)
    targets = rng.normal(size=(90, n_targets))
    layer = layer_for(x)
    columns = layer.outputs(x)
    pairs = ridge_pairs()
    assert pairs == list(product(RIDGES, LINK_RIDGES))
    for pair, coef in zip(pairs, fit_read_outs(layer, x, targets, pairs), strict=True):
        ridge = np.diag(np.sqrt([pair[0]] * 12 + [pair[1]] * 6 + [1e-6]))
        rows = np.vstack([columns, ridge]), np.vstack([targets, np.zeros((19, n_targets))])
        np.testing.assert_allclose(coef, np.linalg.lstsq(*rows, rcond=None)[0], atol=1e-6)


def test_too_small_ridge_raises():
    x = columns_of(np.random.default_rng(7))
    layer = layer_for(x, z_max=(0, 0, 0), n_hidden=40)  # forty identical neurons
    with pytest.raises(
        oc.InputError, match=r"^ridge=1e-40 is too small: the training data are singular; increase it$"
    ):
        fit_read_outs(layer, x, x[:, :1], [(1e-40, 1.0)])


def test_blocks_equal_all_rows_at_once(monkeypatch):
    rng = np.random.default_rng(8)
    x, targets = columns_of(rng), rng.normal(size=(90, 2))
    whole = layer_for(x)
    (coef,) = fit_read_outs(whole, x, targets, [(1.0, 1.0)])
    monkeypatch.setattr("occupair.room.linked_elm._ROWS_PER_BLOCK", 32)  # 90 rows are two blocks and a rest
    blocks = layer_for(x)
    np.testing.assert_allclose(blocks.alphas, whole.alphas, rtol=1e-12)
    np.testing.assert_allclose(fit_read_outs(blocks, x, targets, [(1.0, 1.0)])[0], coef, rtol=1e-9)


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(9)
    x, targets = columns_of(rng, n=40), rng.normal(size=(40, 2))
    often = rng.integers(1, 4, 40)
    layer = layer_for(x)
    weighted = fit_read_outs(layer, x, targets, [(1.0, 1.0), (0.1, 100.0)], often.astype(float))
    repeated = fit_read_outs(
        layer, np.repeat(x, often, axis=0), np.repeat(targets, often, axis=0), [(1.0, 1.0), (0.1, 100.0)]
    )
    for ours, theirs in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)
