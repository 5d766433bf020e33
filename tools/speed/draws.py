"""Speed of choosing the best of many random layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from occupair import FSELMRegressor
from tools.speed.contenders import Z_MAX
from tools.speed.formatting import Headline, Section, Table, ratio, time
from tools.speed.measuring import seconds
from tools.speed.sizes import Sizes
from tools.speed.training import work_of


@dataclass(frozen=True)
class Draws:
    """Times and errors of choosing from many random layers."""

    n_draws: int
    one: float  # [s]
    screened: float  # [s]
    small_hidden: int
    screened_error: float  # [people]
    every_error: float  # [people]
    small_screened: float  # [s]
    small_every: float  # [s]


def measure(file: str, sizes: Sizes) -> Draws:
    """Choose from many screened layers; with fewer neurons, also train every layer in full."""
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
    for _ in range(min(sizes.rounds, 2)):  # alternating
        ones += [fit(1, sizes.n_hidden)[0] for _ in range(sizes.rounds)]
        many.append(fit(sizes.n_draws, sizes.n_hidden)[0])
    small_screened, screened_error = fit(sizes.n_draws, small)
    small_every, every_error = fit(sizes.n_draws, small, screen=False)
    return Draws(
        sizes.n_draws, min(ones), min(many), small, screened_error, every_error, small_screened, small_every
    )


def draws_section(found: Draws) -> Section:
    """Return the section."""
    heads = ["layers", "relative to one", "time"]
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
        ["all trained in full", ratio(1.0), time(found.small_every), f"{found.every_error:.4f}"],
    ]
    text = [
        "The paper trains 100 random layers and uses the one with the smallest training error.",
        "occupair first trains all of them on every twentieth row, and then only the best 8 on all rows.",
        f"The second table checks with {found.small_hidden} neurons, where training every layer is feasible, "
        "whether screening misses the best layer. Error is the training RMSE of the chosen layer [people].",
    ]
    tables = [
        Table(heads, rows),
        Table([f"{found.n_draws} layers", "relative to all", "time", "error"], small),
    ]
    return Section("Training: best of many random layers", text, tables)


def draws_headlines(found: Draws) -> list[Headline]:
    """Return the key figures."""
    what = f"choose from {found.n_draws} random layers, relative to training one"
    return [Headline(what, ratio(found.screened / found.one), time(found.screened), time(found.one))]
