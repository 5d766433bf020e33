"""Training: the best of many random layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from occupair import FSELMRegressor
from tools.speed.contenders import Z_MAX
from tools.speed.measuring import seconds
from tools.speed.sizes import Sizes
from tools.speed.training import work_of
from tools.speed.words import Headline, Section, Table, ratio, time


@dataclass(frozen=True)
class Draws:
    """What it takes to choose from many random layers."""

    n_draws: int
    one: float  # [s]
    screened: float  # [s]
    small_hidden: int
    screened_error: float  # [people]
    every_error: float  # [people]
    small_screened: float  # [s]
    small_every: float  # [s]


def measure(file: str, sizes: Sizes) -> Draws:
    """Choose from many layers, screened; for fewer neurons also with all of them trained."""
    work = work_of(file, sizes.days, sizes.n_hidden, sizes.epochs)
    small = max(sizes.n_hidden // 4, 10)

    def fit(n_draws: int, n_hidden: int, screen: bool = True) -> tuple[float, float]:
        settings: dict[str, Any] = {
            "n_draws": n_draws,
            "n_hidden": n_hidden,
            "screen": screen,
            "verbose": False,
        }
        model = FSELMRegressor(groups=work.groups, z_max=Z_MAX, random_state=0, **settings)
        return seconds(lambda: model.fit(work.X, work.y)), model.training_error_

    ones, many = [], []
    for _ in range(min(sizes.rounds, 2)):  # in turns
        ones += [fit(1, sizes.n_hidden)[0] for _ in range(sizes.rounds)]
        many.append(fit(sizes.n_draws, sizes.n_hidden)[0])
    small_screened, screened_error = fit(sizes.n_draws, small)
    small_every, every_error = fit(sizes.n_draws, small, screen=False)
    return Draws(
        sizes.n_draws, min(ones), min(many), small, screened_error, every_error, small_screened, small_every
    )


def draws_section(found: Draws) -> Section:
    """Write what choosing from many layers takes."""
    heads = ["layers", "over one layer", "time"]
    rows = [
        ["1", ratio(1.0), time(found.one)],
        [f"{found.n_draws}, screened", ratio(found.screened / found.one), time(found.screened)],
    ]
    small = [
        [
            "screened",
            ratio(found.small_screened / found.small_every),
            time(found.small_screened),
            f"{found.screened_error:.4f}",
        ],
        ["every one trained", ratio(1.0), time(found.small_every), f"{found.every_error:.4f}"],
    ]
    words = [
        "The paper trains 100 random layers and keeps the best in training.",
        "Ours trains all of them on one row of twenty first, and only the best 8 of those on all rows.",
        f"Whether that misses the best is shown with {found.small_hidden} neurons, where training every one "
        "does not take minutes: the last column is the training RMSE of the layer that was kept [people].",
    ]
    tables = [
        Table(heads, rows),
        Table([f"{found.n_draws} layers", "over every one", "time", "error"], small),
    ]
    return Section("Training: the best of many layers", words, tables)


def draws_headlines(found: Draws) -> list[Headline]:
    """Give what matters most of it."""
    what = f"choose from {found.n_draws} layers, against training one"
    return [Headline(what, ratio(found.screened / found.one), time(found.screened), time(found.one))]
