"""The reference implementation: both estimators computed naively from their equations.

Slow, and without any code of the package. The optimised code must give the same numbers.
"""

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


class PaperReference:
    """The paper's estimator, run by the equations with the parameters of a fitted OccupancyEstimator."""

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
        """Eq. (26): smooth and rerun the day after every reading; the lag is ``wait`` readings."""
        people = np.zeros(len(co2))
        for k in range(self.horizon, len(co2)):
            so_far = self.free_run(smooth(co2[: k + 1], self.smoothing), ventilation[: k + 1])
            if k >= wait:
                people[k - wait] = so_far[k - wait]
        if wait:
            people[-wait:] = so_far[-wait:]
        return people


LEVELS = {1: (0, 10, 20, 40), 2: (0, 5, 10, 15, 20, 30, 40, 60)}  # ages by column set [min]


class RoomReference:
    """Reference implementation of a trained default estimator, for the newest of some readings."""

    def __init__(self, estimator, co2, ventilation, times):
        self.room, self.d = estimator.room_, estimator.interval_
        self.co2 = smooth(co2, self.room.smoothing)
        self.ventilation, self.time = ventilation, times[-1]
        self.lowest_co2 = min(smooth(co2[: k + 1], self.room.smoothing)[-1] for k in range(len(co2)))

    def c(self, ago):
        return self.co2[max(len(self.co2) - 1 - ago, 0)]

    def v(self, ago):
        return self.ventilation[max(len(self.ventilation) - 1 - ago, 0)]

    def readings(self, minutes):
        return max(round(minutes / self.d), 1)

    def base(self, level, low_share):
        low = min(max(self.lowest_co2, level.lowest), level.highest)
        return low_share * low + (1 - low_share) * level.median

    def terms(self, level, low_share, offset):
        """Rises over 10 and 20 min [ppm/min], CO2 above base with v and v squared [100 ppm], 1."""
        rises = [
            (self.c(offset) - self.c(offset + self.readings(m))) / (self.readings(m) * self.d)
            for m in (10, 20)
        ]
        above, v = (self.c(offset) - self.base(level, low_share)) / 100, self.v(offset)
        return np.array([*rises, above, v * above, v * v * above, 1.0])

    def clamp(self, people):
        limit = self.room.max_people if self.room.people_limit is None else self.room.people_limit
        return min(max(people, 0.0), limit)

    def unclamped_balance(self, balance):
        return sum(
            variant.weight * self.terms(balance.base, variant.low_share, variant.offset) @ variant.coef
            for variant in balance.variants
            if variant.weight
        )

    def balance(self, balance):
        return self.clamp(self.unclamped_balance(balance))

    def balance_parts(self, balance):
        """Contribution of the rises, and that of level and constant, in the variant of largest weight."""
        best = max(balance.variants, key=lambda variant: variant.weight)
        terms = self.terms(balance.base, best.low_share, best.offset) * best.coef
        return [terms[:2].sum(), terms[2:].sum()]

    def hour(self, lag):
        return self.time.hour + self.time.minute / 60 + self.time.second / 3600 - lag * self.d / 60

    def features(self, one):
        """y of groups M, P, V, T and S."""
        settings, level = one.features, one.balance.base
        base = self.base(level, settings.low_share)
        windows = [[self.v(settings.offset + j) for j in range(self.readings(m))] for m in (10, 30, 60)]
        angle, weekend = 2 * np.pi * self.hour(one.lag) / 24, float(self.time.isoweekday() > 5)
        by_lag = {other.lag: other.balance for other in self.room.refinements}
        balances = [by_lag[int(minutes / self.d + 1e-6)] for minutes in (0, 10, 20)]
        parts = [self.balance_parts(balances[0]), self.balance_parts(balances[-1])]
        return np.concatenate(
            [
                self.terms(level, settings.low_share, settings.offset)[:5],
                [(self.c(round(m / self.d)) - base) / 100 for m in LEVELS[self.room.column_set]],
                [(self.c(0) - self.c(self.readings(m))) / 30 for m in (5, 10, 20, 40)],
                [self.v(settings.offset), *(np.mean(window) for window in windows)],
                [np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)],
                [weekend, weekend * np.sin(angle), weekend * np.cos(angle)],
                [self.balance(balance) for balance in balances],
                *(parts if self.room.column_set == 2 else []),
            ]
        )

    def tree_columns(self, one):
        """All features but those of people, to six decimals, and the minute of the day."""
        n_people = {1: 3, 2: 7}[self.room.column_set]
        y = [round(value, 6) for value in self.features(one)[:-n_people]]
        return np.append(y, self.hour(one.lag) * 60 % 1440).astype(np.float32)

    def minute(self, lag):
        """Minute of the day of the reading to estimate, on the day before if negative."""
        return self.time.hour * 60 + self.time.minute + self.time.second / 60 - lag * self.d

    def members(self, one):
        """Network, mass balance, boosted trees, kernel regression and profile; those that a model has."""
        y = self.features(one)
        h = linked_outputs(y, one.layer)
        people = [h @ one.coef, self.unclamped_balance(one.balance), 0.0, 0.0, 0.0]
        if one.trees is not None:
            people[2] = sum_of_trees(one.trees, self.tree_columns(one))
        if one.kernel is not None:
            people[3] = wave_outputs((y - one.kernel.mean) * one.kernel.scale) @ one.kernel.coef
        if self.room.profile is not None:
            weekend = int(self.time.isoweekday() > 5)
            people[4] = self.room.profile.people[weekend, int(self.minute(one.lag) % 1440) // 15]
        return np.array([self.clamp(member) for member in people]), h @ one.presence

    def people(self, one):
        """Estimate of the reading ``one.lag`` readings ago."""
        members, presence = self.members(one)
        people, room = members @ one.weights, self.room
        if presence < one.threshold and people < 0.1 * room.max_people:
            people = 0.0
        minute = int(self.minute(one.lag))
        if room.hours.is_open[int(self.time.isoweekday() > 5), minute]:
            return people
        return self.balance(one.balance) if minute >= 20 and self.is_evident(one) else 0.0

    def is_evident(self, one):
        """Whether the mass balance is above its threshold at this lag and at the one before or after."""
        if self.room.evidence_thresholds is None or self.has_fallen():
            return False
        refinements = {other.lag: other for other in self.room.refinements}
        lags = [int(minutes / self.d + 1e-6) for minutes in (0, 10, 20)]
        balances = [self.unclamped_balance(refinements[lag].balance) for lag in lags]
        return any(
            one.lag in (lags[k], lags[k + 1]) and min(balances[k], balances[k + 1]) > threshold
            for k, threshold in enumerate(self.room.evidence_thresholds)
        )

    def has_fallen(self):
        """Whether CO2 fell by 30 % in 10 min within the last 80 min, or by 5 % in 40 min and still falls."""
        height = [self.c(ago) - self.lowest_co2 for ago in range(round(80 / self.d) + 1)]
        short, long = self.readings(10), self.readings(40)
        for now in range(len(height) - short):
            before = height[now + short]
            if before - height[now] > max(0.3 * before, 80):
                return True
        share = 0.05 + 0.3 * np.mean([self.v(ago) for ago in range(len(height))])
        falls = height[long] - height[0] > max(share * height[long], 10)
        return falls and height[short] > height[0]


def linked_outputs(y, layer):
    """Outputs for one row of features: h(RSy + b) - 1/2, the scaled features, and 1."""
    draw = np.random.RandomState(layer.seed)
    R = draw.uniform(-1, 1, (layer.n_hidden, y.size))
    b = draw.uniform(-0.1, 0.1, layer.n_hidden)
    S = np.diag(layer.alphas)
    hidden = 1 / (1 + np.exp(-(R @ S @ y + b))) - 0.5
    return np.concatenate([hidden, (y - layer.mean) * layer.scale, [1.0]])


def wave_outputs(z):
    """Random Fourier features of one row of standardised features, and 1."""
    draw = np.random.RandomState(20161)
    W = draw.standard_normal((200, z.size)) / 10
    b = draw.uniform(0, 2 * np.pi, 200)
    return np.append(np.cos(W @ z + b) * np.sqrt(2 / 200), 1.0)


def sum_of_trees(trees, columns):
    """Walk every tree from its root: left if a column is at most the threshold, and right otherwise."""
    total = trees.start
    for feature, threshold, value in zip(trees.feature, trees.threshold, trees.value, strict=True):
        at = 0
        while at < len(feature):
            at = 2 * at + (1 if columns[feature[at]] <= threshold[at] else 2)
        total += float(value[at - len(feature)])
    return total
