"""Features by Eqs. (3), (7) and (8), the last one as a block matrix."""

import numpy as np
import pytest
from scipy.linalg import block_diag

import occupair as oc
from occupair.paper.features import LAYERS, Layer, input_layer


def readings(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(400, 900, n), rng.integers(0, 9, n).astype(float), rng.random(n)


def feature_matrix(horizon, stride):
    """W_1 of Eq. (8)."""
    size = horizon + 1

    def difference(step):
        rows = size - step
        return np.hstack([np.zeros((rows, step)), np.eye(rows)]) - np.hstack(
            [np.eye(rows), np.zeros((rows, step))]
        )

    pid = np.vstack([np.eye(size), difference(stride), difference(1)])
    return block_diag(pid, np.eye(2 * horizon + 1))


@pytest.mark.parametrize(("horizon", "stride"), [(1, 1), (2, 1), (6, 2), (30, 10), (30, 30), (7, 3)])
def test_feature_layer_matches_equation_8(horizon, stride):
    co2, occupancy, ventilation = readings(horizon + 25)
    x = np.array(
        [
            np.r_[co2[k - horizon : k + 1], occupancy[k - horizon : k], ventilation[k - horizon : k + 1]]
            for k in range(horizon, co2.size)
        ]
    )
    layer = oc.feature_layer(co2, occupancy, ventilation, horizon=horizon, stride=stride)
    assert list(layer) == ["P", "I", "D", "o", "v"]
    y = np.hstack(list(layer.values()))
    assert y.shape == (25, 5 * horizon - stride + 3)  # n_f below Eq. (7)
    np.testing.assert_allclose(y, x @ feature_matrix(horizon, stride).T, atol=1e-12)


def test_input_layer_matches_equation_3():
    co2, occupancy, ventilation = readings(9)
    layer = input_layer(co2, occupancy, ventilation, horizon=4)
    assert [group.shape for group in layer.values()] == [(5, 5), (5, 4), (5, 5)]  # n = 3l + 2
    np.testing.assert_array_equal(layer["c"][2], co2[2:7])
    np.testing.assert_array_equal(layer["o"][2], occupancy[2:6])
    np.testing.assert_array_equal(layer["v"][2], ventilation[2:7])


def test_features_do_not_contain_present_occupancy():
    co2, occupancy, ventilation = readings(40)
    before = oc.feature_layer(co2, occupancy, ventilation)
    occupancy[-1] += 1000
    after = oc.feature_layer(co2, occupancy, ventilation)
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize("n", [0, 1, 30])
def test_short_series_has_no_rows(n):
    layer = oc.feature_layer(*readings(n))
    assert [group.shape for group in layer.values()] == [(0, 31), (0, 21), (0, 30), (0, 30), (0, 31)]


def test_series_of_one_window_has_one_row():
    assert {group.shape[0] for group in oc.feature_layer(*readings(31)).values()} == {1}


def test_horizon_of_inputs_is_30_by_default():
    assert [group.shape for group in input_layer(*readings(31)).values()] == [(1, 31), (1, 30), (1, 31)]


@pytest.mark.parametrize("kind", LAYERS)
def test_features_of_cut_out_windows_match_the_series(kind):
    """``at`` takes the windows of Eq. (3), ``groups`` the series."""
    series, layer = readings(20), Layer(kind, horizon=6, stride=2)
    rows = layer.at(*input_layer(*series, horizon=6).values())
    np.testing.assert_array_equal(rows, np.hstack(list(layer.groups(*series).values())))
    x = np.hstack(list(input_layer(*series, horizon=6).values()))
    expected = x if kind == "elm" else x @ feature_matrix(6, 2).T
    np.testing.assert_allclose(rows, expected, atol=1e-12)


def test_columns_of_each_group():
    slices = Layer("fs-elm", horizon=3, stride=2).column_slices()
    assert {name: (part.start, part.stop) for name, part in slices.items()} == {
        "P": (0, 4),
        "I": (4, 6),
        "D": (6, 9),
        "o": (9, 12),
        "v": (12, 16),
    }


def test_windows_do_not_share_memory_with_the_series():
    co2, occupancy, ventilation = readings(9)
    layer = input_layer(co2, occupancy, ventilation, horizon=4)
    co2[:] = 0
    assert (layer["c"] >= 400).all()


def test_numbers_of_any_type_become_doubles():
    counts = np.array([200, 3, 250], dtype=np.uint8)
    layer = oc.feature_layer(counts, counts, counts, horizon=2, stride=1)
    assert layer["D"].tolist() == [[-197, 247]]  # would overflow in a byte
    assert {group.dtype for group in layer.values()} == {np.dtype(float)}


def test_layers_of_the_paper():
    assert [(kind, list(Layer(kind, 2, 1).sizes())) for kind in LAYERS] == [
        ("fs-elm", ["P", "I", "D", "o", "v"]),  # Eq. (7)
        ("elm", ["c", "o", "v"]),  # Eq. (3)
    ]


def test_layer_sizes():
    assert Layer("fs-elm", 30, 10).sizes() == {"P": 31, "I": 21, "D": 30, "o": 30, "v": 31}
    assert Layer("elm", 30, 10).sizes() == {"c": 31, "o": 30, "v": 31}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 0}, "horizon must be an integer, 1 or more, got 0"),
        ({"horizon": 2.5}, r"horizon must be an integer, 1 or more, got 2\.5"),
        ({"stride": 0}, "stride must be an integer, 1 or more, got 0"),
        ({"stride": 31}, "stride must be at most the horizon of 30 readings, got 31"),
    ],
)
def test_invalid_lags_are_rejected(arguments, message):
    with pytest.raises(oc.InputError, match=message):
        oc.feature_layer(*readings(50), **arguments)


@pytest.mark.parametrize(
    ("occupancy", "shapes"),
    [(np.zeros(4), r"\(5,\), \(4,\), \(5,\)"), (np.zeros((5, 1)), r"\(5,\), \(5, 1\), \(5,\)")],
)
def test_series_of_different_shape_are_rejected(occupancy, shapes):
    with pytest.raises(oc.InputError, match=f"must be one-dimensional and of equal length, got {shapes}$"):
        oc.feature_layer(np.zeros(5), occupancy, np.zeros(5), horizon=2, stride=1)
