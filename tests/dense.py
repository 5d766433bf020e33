"""The paper's estimators written out step by step, slowly, from the equations: what fast code must equal."""

import numpy as np


def smooth(co2, smoothing):
    """Eq. (18) with a full matrix."""
    n = len(co2)
    gradient = np.eye(n - 1, n, k=1) - np.eye(n - 1, n)
    return np.linalg.solve(np.eye(n) + smoothing * gradient.T @ gradient, co2)


def feature_vector(co2, people, ventilation, k, horizon, stride):
    """y_k of Eq. (7)."""
    c = co2[k - horizon : k + 1]
    return np.concatenate(
        [
            c,
            c[stride:] - c[:-stride],
            c[1:] - c[:-1],
            people[k - horizon : k],
            ventilation[k - horizon : k + 1],
        ]
    )


def input_vector(co2, people, ventilation, k, horizon, stride):
    """x_k of Eq. (3)."""
    return np.concatenate(
        [co2[k - horizon : k + 1], people[k - horizon : k], ventilation[k - horizon : k + 1]]
    )


class Written:
    """A fitted OccupancyEstimator's numbers, run by the equations."""

    def __init__(self, estimator):
        regressor, d = estimator.regressor_, estimator.interval_
        self.R, self.b, self.beta = regressor.random_weights_, regressor.bias_, regressor.coef_
        self.horizon, self.stride = round(estimator.horizon / d), round(estimator.stride / d)
        self.smoothing = estimator.smoothing / d**2
        self.most = estimator.most_people_
        self.vector = input_vector if estimator.layer == "elm" else feature_vector
        sizes = [self.R.shape[1]] if estimator.layer == "elm" else regressor.groups
        self.S = np.diag(np.repeat(regressor.scale_, sizes))

    def f(self, co2, people, ventilation, k):
        """Eq. (16), or Eq. (4) for the standard machine; clamped."""
        y = self.vector(co2, people, ventilation, k, self.horizon, self.stride)
        z = self.R @ self.S @ y + self.b
        with np.errstate(over="ignore"):
            return float(np.clip((1 / (1 + np.exp(-z))) @ self.beta, 0, self.most))

    def free_run(self, co2, ventilation):
        """Eq. (21) on raw CO2, Eq. (22) on smoothed."""
        people = np.zeros(len(co2))
        for k in range(self.horizon, len(co2)):
            people[k] = self.f(co2, people, ventilation, k)
        return people

    def hindsight(self, co2, ventilation):
        """Eqs. (22) and (23)."""
        return self.free_run(smooth(co2, self.smoothing), ventilation)

    def drifting(self, co2, ventilation):
        """Eqs. (24) and (25)."""
        people = np.zeros(len(co2))
        for k in range(self.horizon, len(co2)):
            people[k] = self.f(smooth(co2[: k + 1], self.smoothing), people, ventilation, k)
        return people

    def live(self, co2, ventilation, wait=0):
        """Eq. (26): at every reading smooth all so far, run all again, keep the last (or wait)."""
        people = np.zeros(len(co2))
        for k in range(self.horizon, len(co2)):
            so_far = self.free_run(smooth(co2[: k + 1], self.smoothing), ventilation[: k + 1])
            if k >= wait:
                people[k - wait] = so_far[k - wait]
        if wait:
            people[-wait:] = so_far[-wait:]
        return people
