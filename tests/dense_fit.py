"""Reference implementation of the training of the default estimator, from its definitions.

Slow, and without code of the package except data classes and the open hours, which have tests of their own.
"""

from copy import copy
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.ensemble import HistGradientBoostingRegressor

from dense import RoomReference, linked_outputs
from occupair.room.features import FeatureSettings
from occupair.room.mass_balance import Balance, BalanceVariant, BaseLevel
from occupair.room.open_hours import fit_open_hours

SIZES = (5, 12, 4, 7, 7)  # features of the groups M, P, V, T and S


def ridge_solve(h, target, weight, ridge, start=None):
    """Weighted ridge regression towards a start, by least squares with additional rows."""
    start = np.zeros(h.shape[1]) if start is None else start
    root, ridge = np.sqrt(weight), np.sqrt(ridge)
    rows = np.vstack([root[:, None] * h, np.diag(ridge)]), np.append(root * target, ridge * start)
    return np.linalg.lstsq(*rows, rcond=None)[0]


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
    the read-outs of each layer by lag [readings] to start from.
    """

    def __init__(self, readings, *, interval, smoothing, z_max, n_hidden, seed, pairs, starts=None):
        self.d, self.z_max, self.n_hidden, self.seed = interval, z_max, n_hidden, seed
        self.pairs, self.starts = pairs, starts
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

    def effective_days(self, days=None):
        """Sum over days of the largest weight in each hour with readings, averaged over these hours."""
        some = self.days if days is None else [self.days[d] for d in days]
        return sum(day["occupancy_weight"].groupby(day.index.hour).max().mean() for day in some)

    def people_limit(self, days, max_people):
        """Above the largest head count by up to 150 % if they are sparse, and by nothing from 10 days on."""
        effective = self.effective_days(days)
        share = (1 - effective / len(days)) * min(effective / 2, 1) * max(1 - effective / 10, 0)
        return max_people * (1 + 1.5 * share)

    def labelled_hours_share(self):
        every_day = pd.concat(self.days)
        return (every_day["occupancy_weight"].groupby(every_day.index.hour).max() > 0).mean()

    def refinement(self, lag):
        """Train one refinement; also return its held-out estimates before and after the open hours."""
        target, weight = self.labels(range(len(self.days)), lag)
        n_before = np.cumsum([0, *(len(day) for day in self.days)])
        network = np.empty((target.size, len(self.candidates), 2))
        members = np.empty((3, target.size))
        for trained, held_out in self.folds:
            place = np.concatenate([np.arange(n_before[d], n_before[d + 1]) for d in held_out])
            one = trained.members(lag)
            network[place], members[1, place], members[2, place] = trained.predict(one, held_out, lag)
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
            alphas=final.layer.alphas,
            scale=final.layer.scale,
        )

    @property
    def candidates(self):
        starts = [None] if self.starts is None else [self.starts, None]
        return [(start, pair) for start in starts for pair in self.pairs]

    def stack(self, errors, weight):
        """Weights of the members: prior weights of a third, less for network and trees with few labels."""
        days = self.effective_days()
        other = min(1.0, days / 6) * self.labelled_hours_share() / 3
        prior, size = np.array([other, 1 - 2 * other, other]), np.mean(errors**2 @ weight)

        def loss(w):
            return weight @ (w @ errors) ** 2 / size + 6 / days * np.sum((w - prior) ** 2)

        found = minimize(
            loss,
            prior,
            method="SLSQP",
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            options={"ftol": 1e-15, "maxiter": 500},
        )
        return found.x

    def held_out_hours(self, clocks, unobserved=None):
        """Open hours from the other days, for each day."""
        labels = [self.labels([d], 0) for d in range(len(self.days))]
        weights = None if unobserved is None else [weight for _, weight in labels]
        return fit_open_hours(clocks, [people for people, _ in labels], weights, unobserved)[1]


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
        for low_share, (offset, delay) in product((1.0, 0.5, 0.0), offsets.items()):
            rows = [one.terms(self.base, low_share, offset) for d in self.days for one in self.fit.samples[d]]
            terms = np.array(rows)
            mean = np.average(terms, axis=0, weights=weight)
            ridge = np.average((terms - mean) ** 2, axis=0, weights=weight)
            ridge[5] = 1e-6
            error = 0.0
            for d in self.days:
                out = day == d
                coef = ridge_solve(terms[~out], people[~out], weight[~out], ridge)
                error += weight[out] @ (terms[out] @ coef - people[out]) ** 2
            errors.append(error)
            variants.append((low_share, delay, offset, ridge_solve(terms, people, weight, ridge)))
        return Balance(
            self.base, tuple(BalanceVariant(*v, w) for v, w in zip(variants, averaged(errors), strict=True))
        )

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
        """Train network and trees."""
        people, weight = self.fit.labels(self.days, lag)
        known = weight > 0
        y, people, weight = self.features(self.days, lag)[known], people[known], weight[known]
        unit = max(people.std(), 0.3)
        layer = self.layer(y, unit)
        h = np.array([linked_outputs(row, layer) for row in y])
        read_outs = [self.read_out(h, people, unit, weight, lag, *one) for one in self.fit.candidates]
        columns = self.tree_columns(self.days, lag)[known]
        equal = (weight == weight[0]).all()
        boosting = HistGradientBoostingRegressor(
            max_iter=100,
            learning_rate=0.05,
            max_depth=3,
            max_leaf_nodes=None,
            min_samples_leaf=60,
            l2_regularization=1.0,
            max_features=0.5,
            early_stopping=False,
            random_state=0,
        ).fit(columns if equal else few_values(columns), people, sample_weight=None if equal else weight)
        return SimpleNamespace(layer=layer, read_outs=read_outs, unit=unit, boosting=boosting)

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
        """Candidates of the network, mass balance and trees on some days."""
        h = np.array([linked_outputs(row, one.layer) for row in self.features(days, lag)])
        network = np.array([h @ read_out for read_out in one.read_outs]).transpose(1, 0, 2)
        network[:, :, 0] = np.clip(one.unit * network[:, :, 0], 0, self.limit)
        balance = self.features(days, lag)[:, 28 + self.fit.lags.index(lag)]
        trees = np.clip(one.boosting.predict(self.tree_columns(days, lag)), 0, self.limit)
        return network, balance, trees
