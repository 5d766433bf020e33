"""Reference implementation of the training of the default estimator, from its definitions.

Slow, and without code of the package except data classes. Open hours have tests of their own.
"""

from copy import copy
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from dense import RoomReference, linked_outputs, wave_outputs
from occupair.room.features import FeatureSettings
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel

SIZES = (5, 12, 4, 7, 7)  # features of the groups M, P, V, T and S

EXPONENT = 6  # power of the squared errors in the weights of the members, with many days
PRIOR_DAYS = 5  # labelled days at which half of it is reached
FULL_WEIGHT_DAYS = 6  # labelled days from which on all members have the same prior weight
SHAPE_DAYS = 1.5  # labelled days at which the shapes of other rooms count as much as the head counts
HEADROOM = 1.0  # of the estimates above the largest head count, with shapes of other rooms and few days
NO_HEADROOM_DAYS = 8  # labelled days from which on there is none
BOOSTING = {
    "max_iter": 100,
    "learning_rate": 0.05,
    "max_depth": 3,
    "max_leaf_nodes": None,
    "min_samples_leaf": 60,
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "early_stopping": False,
    "random_state": 0,
}
"""Settings of the boosted trees in scikit-learn."""


def penalised_solve(h, target, weight, rows, start):
    """Weighted least squares with additional rows that pull the solution towards a start."""
    root = np.sqrt(weight)
    left, right = np.vstack([root[:, None] * h, rows]), np.append(root * target, rows @ start)
    return np.linalg.lstsq(left, right, rcond=None)[0]


def ridge_solve(h, target, weight, ridge, start=None):
    """Weighted ridge regression towards a start."""
    start = np.zeros(h.shape[1]) if start is None else start
    return penalised_solve(h, target, weight, np.diag(np.sqrt(ridge)), start)


def spread(values, weight):
    """Weighted standard deviation."""
    mean = weight @ values / weight.sum()
    return np.sqrt(weight @ (values - mean) ** 2 / weight.sum())


class KernelReference:
    """Kernel regression: ridge regression on random Fourier features, reweighted five times.

    Samples with an error of more than 0.2 standard deviations weigh less, as in the Huber loss.
    """

    def __init__(self, y, people, weight):
        self.mean = np.array([weight @ column / weight.sum() for column in y.T])
        spreads = [spread(column, weight) for column in y.T]
        self.scale = np.array([1 / one if one > 1e-6 else 1.0 for one in spreads])
        unit, centre = max(people.std(), 0.3), weight @ people / weight.sum()
        h, target = self.outputs(y), (people - centre) / unit
        robust = np.ones(len(people))
        for _ in range(5):
            coef = ridge_solve(h, target, weight * robust, np.array([0.3] * 200 + [1e-3]))
            off = [abs(one @ coef - wanted) for one, wanted in zip(h, target, strict=True)]
            robust = np.array([1.0 if one <= 0.2 else 0.2 / one for one in off])
        self.coef = unit * coef
        self.coef[200] += centre

    def outputs(self, y):
        return np.array([wave_outputs((row - self.mean) * self.scale) for row in y])

    def predict(self, y):
        return self.outputs(y) @ self.coef


def time_profile(times, people, weight):
    """Mean occupancy by quarter of an hour, on weekdays and on weekends, smoothed around midnight.

    The mean of all head counts has a weight of 0.05. Without weekends, those of weekdays are used.
    """
    mean = weight @ people / weight.sum()
    total, weights = np.zeros((2, 96)), np.zeros((2, 96))
    for time, count, own in zip(times, people, weight, strict=True):
        place = int(time.isoweekday() > 5), (time.hour * 60 + time.minute) // 15
        total[place] += own * count
        weights[place] += own
    for kind in (0, 1):
        if not weights[kind].any():
            total[kind], weights[kind] = total[1 - kind], weights[1 - kind]
    found = np.empty((2, 96))
    for kind in (0, 1):
        for step in range(96):
            near = [(share, (step + k) % 96) for k, share in zip(range(-2, 3), (1, 4, 6, 4, 1), strict=True)]
            counts = sum(share / 16 * total[kind, one] for share, one in near)
            found[kind, step] = (counts + 0.05 * mean) / (
                sum(share / 16 * weights[kind, one] for share, one in near) + 0.05
            )
    return np.round(found, 4)


def averaged(errors):
    """Weights that decrease by exp(-0.6) with every per cent of error; below 2 % they are dropped."""
    weights = np.exp(-60 * (np.array(errors) / min(errors) - 1))
    weights[weights < 0.02 * weights.sum()] = 0
    return weights / weights.sum()


def few_values(columns):
    """Each value replaced by the nearest of 255 quantiles of its column; of two equally near, the lower."""
    found = np.empty_like(columns)
    for j, column in enumerate(columns.T.astype(float)):
        ranked = np.sort(column)
        places = np.linspace(0, 1, 255) * (len(column) - 1)
        values = np.unique([ranked[round(place)] for place in places])
        found[:, j] = [min(values, key=lambda value, x=x: (abs(value - x), value)) for x in column]
    return found


class FitReference:
    """Training of one room with a reading every 5 min or less often.

    ``readings`` has ``occupancy_weight``; ``pairs`` are the candidate ridges of neurons and links, ``starts``
    the read-outs of each layer by lag [readings] to start from, ``shapes`` by lag [readings] the low share,
    delay, coefficients and covariance of mass balances of other rooms.
    """

    def __init__(
        self, readings, *, interval, smoothing, z_max, n_hidden, seed, pairs, starts=None, shapes=None
    ):
        self.d, self.z_max, self.n_hidden, self.seed = interval, z_max, n_hidden, seed
        self.pairs, self.starts, self.shapes = pairs, starts, shapes
        self.days = [day for _, day in readings.groupby(readings.index.date)]
        self.lags = [int(minutes / interval + 1e-6) for minutes in (0, 10, 20)]
        room = SimpleNamespace(room_=SimpleNamespace(smoothing=smoothing), interval_=interval)
        self.samples = [
            [
                RoomReference(
                    room,
                    *(day[name].to_numpy()[: k + 1] for name in ("co2", "ventilation")),
                    day.index[: k + 1],
                )
                for k in range(len(day))
            ]
            for day in self.days
        ]
        everything = range(len(self.days))
        self.all_days = _Trained(self, list(everything))
        n_folds = min(5, len(self.days))
        self.folds = [
            (
                _Trained(self, [d for d in everything if d % n_folds != f]),
                [d for d in everything if d % n_folds == f],
            )
            for f in range(n_folds)
        ]

    def labels(self, days, lag):
        """Head counts and weights ``lag`` readings before each reading of some days, concatenated."""
        then = pd.concat([self.days[d].iloc[np.maximum(np.arange(len(self.days[d])) - lag, 0)] for d in days])
        weight = then["occupancy_weight"].where(then["occupancy"].notna(), 0.0).to_numpy()
        return np.where(weight > 0, then["occupancy"], 0.0), weight

    def informative_days(self, days=None):
        """Sum over days of the root of the largest weight in each hour, averaged over hours with readings."""
        some = self.days if days is None else [self.days[d] for d in days]
        return sum(np.sqrt(day["occupancy_weight"].groupby(day.index.hour).max().mean()) for day in some)

    def people_limit(self, days, max_people):
        """Above the largest head count if the mass balance starts from other rooms, less with more days."""
        if self.shapes is None:
            return max_people
        few = max(1 - self.informative_days(days) / NO_HEADROOM_DAYS, 0)
        return max_people * (1 + HEADROOM * few)

    def labelled_hours_share(self):
        every_day = pd.concat(self.days)
        return (every_day["occupancy_weight"].groupby(every_day.index.hour).max() > 0).mean()

    def refinement(self, lag):
        """Train one refinement; also return its held-out estimates before and after the open hours."""
        target, weight = self.labels(range(len(self.days)), lag)
        n_before = np.cumsum([0, *(len(day) for day in self.days)])
        network = np.empty((target.size, len(self.candidates), 2))
        members = np.empty((5, target.size))
        for trained, held_out in self.folds:
            place = np.concatenate([np.arange(n_before[d], n_before[d + 1]) for d in held_out])
            one = trained.members(lag)
            network[place], members[1:, place] = trained.predict(one, held_out, lag)
        off = network - np.column_stack([target, target > 0])[:, None]
        errors = np.einsum("n,nct->ct", weight, off**2)
        candidates = np.column_stack([averaged(errors[:, 0]), averaged(errors[:, 1])])
        members[0], presence = np.einsum("nct,ct->tn", network, candidates)
        weights = self.stack(members - target, weight)
        people, max_people = weights @ members, self.all_days.max_people
        best = None
        for threshold in (0.5, 0.4, 0.3, 0.2, 0.1, 0.0):
            shown = np.where((presence >= threshold) | (people >= 0.1 * max_people), people, 0.0)
            error = np.sum(weight * (shown - target) ** 2)
            if best is None or error < best[0]:
                best = error, threshold, shown
        final = self.all_days.members(lag)
        return SimpleNamespace(
            weights=weights,
            threshold=best[1],
            held_out=best[2],
            coef=final.unit
            * sum(c * r[:, 0] for c, r in zip(candidates[:, 0], final.read_outs, strict=True)),
            presence=sum(c * r[:, 1] for c, r in zip(candidates[:, 1], final.read_outs, strict=True)),
            balance=self.all_days.balances[lag],
            boosting=final.boosting,
            tree_columns=self.all_days.tree_columns(range(len(self.days)), lag),
            kernel=final.kernel,
            features=self.all_days.features(range(len(self.days)), lag),
            profile=final.profile,
            alphas=final.layer.alphas,
            scale=final.layer.scale,
        )

    @property
    def candidates(self):
        starts = [None] if self.starts is None else [self.starts, None]
        return [(start, pair) for start in starts for pair in self.pairs]

    def stack(self, errors, weight):
        """Weights of the members: prior weights of a fifth, less for all but the balance with few labels."""
        days = self.informative_days()
        other = min(1.0, days / FULL_WEIGHT_DAYS) * self.labelled_hours_share() / 5
        prior = np.array([other, 1 - 4 * other, other, other, other])
        weights = prior * (errors**2 @ weight / weight.sum()) ** (-EXPONENT * days / (days + PRIOR_DAYS))
        return weights / weights.sum()


class _Trained:
    """Everything that is trained on some days."""

    def __init__(self, fit, days):
        self.fit, self.days, self.cache = fit, days, {}
        lows = [fit.samples[d][-1].lowest_co2 for d in days]
        margin = 300 / len(days) ** 2
        self.base = BaseLevel(min(lows) - margin, max(lows) + margin, float(np.median(lows)))
        people, _ = fit.labels(days, 0)
        self.max_people = people.max()
        self.limit = fit.people_limit(days, self.max_people)
        self.balances = {lag: self.balance(lag) for lag in fit.lags}
        self.room = SimpleNamespace(
            max_people=self.max_people,
            people_limit=self.limit,
            column_set=2,
            refinements=[self.settings(lag) for lag in fit.lags],
        )

    def settings(self, lag):
        balance = self.balances[lag]
        best = max(balance.variants, key=lambda variant: variant.weight)
        features = FeatureSettings(lag, best.offset, best.low_share)
        return SimpleNamespace(lag=lag, balance=balance, features=features)

    def balance(self, lag):
        people, weight = self.fit.labels(self.days, lag)
        day = np.repeat(self.days, [len(self.fit.days[d]) for d in self.days])
        offsets = {}
        for delay in (0.0, 5.0, 10.0, 15.0, 20.0):
            if round(delay / self.fit.d) <= lag:
                offsets.setdefault(lag - round(delay / self.fit.d), delay)
        variants, errors = [], []
        starts = (False,) if self.fit.shapes is None else (True, False)
        for with_start, low_share, (offset, delay) in product(starts, (1.0, 0.5, 0.0), offsets.items()):
            rows = [one.terms(self.base, low_share, offset) for d in self.days for one in self.fit.samples[d]]
            terms = np.array(rows)
            if with_start:
                rows, start = self.other_rooms(lag, low_share, delay, terms, people, weight)
            else:
                rows, start = self.weak_ridge(terms, weight), np.zeros(6)
            error = 0.0
            for d in self.days:
                out = day == d
                coef = penalised_solve(terms[~out], people[~out], weight[~out], rows, start)
                error += weight[out] @ (terms[out] @ coef - people[out]) ** 2
            errors.append(error)
            variants.append((low_share, delay, offset, penalised_solve(terms, people, weight, rows, start)))
        return Balance(
            self.base, tuple(BalanceVariant(*v, w) for v, w in zip(variants, averaged(errors), strict=True))
        )

    def weak_ridge(self, terms, weight):
        """One more row for each coefficient: a standard deviation of its term."""
        return np.diag([*(spread(term, weight) for term in terms.T[:5]), 1e-3])

    def other_rooms(self, lag, low_share, delay, terms, people, weight):
        """Rows that pull the coefficients towards those of other rooms, and these coefficients.

        In units of the spread of people, of the 20-minute rise and of CO2 above base. Rows of the prior are
        divided by its standard deviations, and multiplied by that of the residuals of a fit with the prior.
        """
        shape = min(
            self.fit.shapes[lag], key=lambda one: (abs(one[0] - low_share), abs(one[1] - delay))
        )  # of equally near ones the first
        rise, level = spread(terms[:, 1], weight), spread(terms[:, 2], weight)
        unit = max(spread(people, weight), 0.3) / np.array([rise, rise, level, level, level, 1.0])
        start, covariance = shape[2] * unit, shape[3] * np.outer(unit, unit)
        whitening = np.linalg.inv(np.linalg.cholesky(covariance))
        n_samples, coef = weight.sum() * (SHAPE_DAYS / self.fit.informative_days(self.days)) ** 2, start
        for _ in range(3):
            residual = people - terms @ coef
            noise = max(weight @ residual**2 / weight.sum(), 1e-3)
            rows = np.sqrt(n_samples * noise) * whitening
            coef = penalised_solve(terms, people, weight, rows, start)
        return rows, start

    def features(self, days, lag):
        """Features of some days, with the mass balances of these training days."""
        return np.vstack([self.features_of_day(d, lag) for d in days])

    def features_of_day(self, d, lag):
        if (d, lag) not in self.cache:
            one, rows = self.settings(lag), []
            for sample in self.fit.samples[d]:
                here = copy(sample)
                here.room = self.room
                rows.append(here.features(one))
            self.cache[d, lag] = np.array(rows)
        return self.cache[d, lag]

    def tree_columns(self, days, lag):
        """All features but those of people, to six decimals, and the minute of the day."""
        minute = [one.hour(lag) * 60 % 1440 for d in days for one in self.fit.samples[d]]
        return np.column_stack([np.round(self.features(days, lag)[:, :28], 6), minute]).astype(np.float32)

    def members(self, lag):
        """Train all members but the mass balance."""
        people, weight = self.fit.labels(self.days, lag)
        known = weight > 0
        y, people, weight = self.features(self.days, lag)[known], people[known], weight[known]
        unit = max(people.std(), 0.3)
        layer = self.layer(y, unit)
        h = np.array([linked_outputs(row, layer) for row in y])
        read_outs = [self.read_out(h, people, unit, weight, lag, *one) for one in self.fit.candidates]
        columns = self.tree_columns(self.days, lag)[known]
        equal = (weight == weight[0]).all()
        boosting = HistGradientBoostingRegressor(**BOOSTING).fit(
            columns if equal else few_values(columns), people, sample_weight=None if equal else weight
        )
        times = [time for d in self.days for time in self.fit.days[d].index]
        return SimpleNamespace(
            layer=layer,
            read_outs=read_outs,
            unit=unit,
            boosting=boosting,
            kernel=KernelReference(y, people, weight),
            profile=time_profile(times, *self.fit.labels(self.days, 0)),
        )

    def layer(self, y, unit):
        """Each feature divided by its spread, each group with an influence of z_max."""
        level, rise = y[:, 5].std(), y[:, 15].std()  # CO2 now [100 ppm], 20-minute rise [30 ppm]
        m = [20 / (30 * rise)] * 2 + [1 / level] * 3
        gains = np.array([*m, *[1 / level] * 8, *[1 / rise] * 4, *[1.0] * 11, *[1 / unit] * 7])
        influence = [z / np.sqrt(size) for z, size in zip(self.fit.z_max, SIZES, strict=True)]
        return SimpleNamespace(
            seed=self.fit.seed,
            n_hidden=self.fit.n_hidden,
            alphas=gains * np.repeat(influence, SIZES),
            mean=np.zeros(35),
            scale=gains,
        )

    def read_out(self, h, people, unit, weight, lag, starts, pair):
        """Mean of three layers with a third of the neurons each; columns are people and presence."""
        n, found = self.fit.n_hidden, np.zeros((h.shape[1], 2))
        for k, own in enumerate(np.array_split(np.arange(n), 3)):
            columns = [*own, *range(n, h.shape[1])]
            ridge = np.array([pair[0]] * own.size + [pair[1]] * 35 + [1e-3])
            for t, target in enumerate((people / unit, people > 0)):
                start = None if starts is None else starts[lag][k][:, t]
                found[columns, t] += ridge_solve(h[:, columns], target, weight, ridge, start) / 3
        return found

    def predict(self, one, days, lag):
        """Candidates of the network, and the other members, on some days."""
        y = self.features(days, lag)
        h = np.array([linked_outputs(row, one.layer) for row in y])
        network = np.array([h @ read_out for read_out in one.read_outs]).transpose(1, 0, 2)
        network[:, :, 0] = np.clip(one.unit * network[:, :, 0], 0, self.limit)
        balance = y[:, 28 + self.fit.lags.index(lag)]
        trees, kernel = one.boosting.predict(self.tree_columns(days, lag)), one.kernel.predict(y)
        times = [time for d in days for time in self.fit.days[d].index]
        earlier = pd.DatetimeIndex(times) - pd.Timedelta(minutes=lag * self.fit.d)
        profile = [
            one.profile[int(time.isoweekday() > 5), (then.hour * 60 + then.minute) // 15]
            for time, then in zip(times, earlier, strict=True)
        ]
        return network, np.clip([balance, trees, kernel, profile], 0, self.limit)
