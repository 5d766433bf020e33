"""A small network with random parameters, and the reference implementation with the same parameters."""

from types import SimpleNamespace

import numpy as np

from dense import PaperReference
from occupair.elm.hidden_layer import RandomLayer
from occupair.paper.features import Layer
from occupair.paper.network import Network

GROUPS = {"fs-elm": ("P", "I", "D", "o", "v"), "elm": ("c", "o", "v")}


def small_room(
    *, kind="fs-elm", horizon=3, stride=2, n_hidden=7, smoothing=2.0, feedback=0.2, lean=False, seed=0
):
    """Return a network and its reference for CO2 of 0 to 5; estimates reach both clamps, 0 and 6."""
    draw = np.random.default_rng(seed)
    layer, names = Layer(kind, horizon, stride), GROUPS[kind]
    size = {"P": horizon + 1, "I": horizon + 1 - stride, "D": horizon, "o": horizon, "v": horizon + 1}
    sizes = [size.get(name, horizon + 1) for name in names]
    weights, bias = draw.uniform(-1, 1, (n_hidden, sum(sizes))), draw.uniform(-1, 1, n_hidden)
    scale = dict(zip(names, draw.uniform(0.3, 0.8, len(names)), strict=True)) | {"o": feedback}
    coef = draw.normal(0, 16 / np.sqrt(n_hidden), n_hidden)
    coef += (6 - coef.sum()) / n_hidden  # 3 people where every neuron is at 1/2
    network = Network(
        layer=layer,
        smoothing=smoothing,
        most_people=6.0,
        random=RandomLayer(weights.T.copy(), bias),
        scale=scale,
        coef=coef,
        lean=lean,
    )
    trained = SimpleNamespace(
        regressor_=SimpleNamespace(
            random_weights_=weights, bias_=bias, coef_=coef, groups=[sum(sizes)], scale_=1.0
        ),
        interval_=1.0,
        horizon=horizon,
        stride=stride,
        smoothing=smoothing,
        most_people_=6.0,
        layer=kind,
    )
    reference = PaperReference(trained)
    reference.S = np.diag(np.repeat(list(scale.values()), sizes))
    return network, reference


def small_readings(n, seed=0):
    """Return CO2 from 0 to 5 in steps and noise, and ventilation from 0 to 1."""
    draw = np.random.default_rng(seed)
    co2 = np.repeat(draw.uniform(0, 5, n // 4 + 1), 4)[:n] + draw.normal(0, 0.3, n)
    return co2, draw.uniform(0, 1, n)


def hidden_input(reference, co2, people, ventilation, k):
    """z_k by Eq. (9)."""
    y = reference.vector(co2, people, ventilation, k, reference.horizon, reference.stride)
    return reference.R @ reference.S @ y + reference.b
