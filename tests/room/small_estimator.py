"""A default estimator that is trained fast."""

import occupair as oc


def small(**changes):
    return oc.OccupancyEstimator(**({"n_hidden": 10, "random_state": 0} | changes))
