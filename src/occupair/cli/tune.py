"""The tune command: the paper's settings, tuned to a room by cross-validation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from occupair.cli.shared import (
    MOST_NEURONS,
    AsJson,
    Columns,
    Dayfirst,
    Mode,
    Overwrite,
    Readings,
    Seed,
    Timezone,
    bar,
    check_output,
    keep_model,
    naming,
    out,
    print_json,
    read,
)
from occupair.errors import InputError

if TYPE_CHECKING:
    from occupair.tuning import Tuning

_SETTINGS = {
    "horizon": "history the features cover [min]",
    "stride": "time difference of feature I [min]",
    "smoothing": "CO2 smoothing [min squared]",
    "ridge": "ridge penalty of the read-out",
    "z_max_P": "influence of the CO2 level",
    "z_max_I": "influence of CO2 differences over the stride",
    "z_max_D": "influence of CO2 differences between readings",
    "z_max_o": "influence of past estimates; 0 for none",
    "z_max_v": "influence of the ventilation",
}


def tune(
    readings: Readings,
    model: Annotated[
        Path | None, typer.Option("--out", help="Model file to write, trained on all days.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 3,
    rounds: Annotated[int, typer.Option(min=1, help="Passes over all settings.")] = 1,
    mode: Mode = "live",
    horizon: Annotated[float, typer.Option(help="Initial history that the features cover [min].")] = 30,
    stride: Annotated[float, typer.Option(help="Initial time difference of CO2 feature I [min].")] = 10,
    hidden: Annotated[int, typer.Option(min=1, max=MOST_NEURONS, help="Hidden neurons.")] = 1000,
    draws: Annotated[int, typer.Option(min=1, help="Random hidden layers to select from.")] = 1,
    seed: Seed = 0,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Tune the settings of the paper's estimator to a room.

    Settings are selected by cross-validation over days, which takes minutes.

    Example: occupair tune office.csv --out office.occupair
    """
    from occupair.estimator import OccupancyEstimator
    from occupair.tuning import tune as run

    check_output(model, "model", readings)
    office = read(readings, timezone, column, dayfirst, occupancy=True)
    if model is not None:
        keep_model(model, office, overwrite=overwrite)
    if not office["occupancy"].any():
        raise InputError(f"{readings}: all head counts are 0: there is nothing to tune on")
    start = OccupancyEstimator.paper(
        horizon=horizon, stride=stride, n_hidden=hidden, n_draws=draws, random_state=seed
    )
    with naming(readings), bar(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # folds whose training days are all empty
        found = run(office, start, folds=folds, mode=mode, rounds=rounds)  # type: ignore[arg-type]
        if model is not None:
            found.estimator.fit(office).save(model)
    if as_json:
        print_json(_as_json(found, mode, folds) | {"model": None if model is None else str(model)})
        return
    out.print(_table(found))
    out.print(f"\n{_verdict(found, mode)}")
    out.print(_next_step(found, readings, model), soft_wrap=True)


def _table(found: Tuning) -> Table:
    from occupair.tuning import settings_of

    before, after = settings_of(found.before), settings_of(found.estimator)
    table = Table("setting", "before", "after", "meaning", box=None, padding=(0, 2))
    for name, meaning in _SETTINGS.items():
        style = "bold" if name in found.changes else None
        table.add_row(name, f"{before[name]:g}", f"{after[name]:g}", meaning, style=style)
    return table


def _verdict(found: Tuning, mode: str) -> str:
    score = f"RMSE on held-out days, {mode} mode"
    if not found.changes:
        return f"{score}: {found.rmse:.2f} people. None of the {found.n_tried} settings tried is better."
    return (
        f"{score}: {found.rmse_before:.2f} people before, {found.rmse:.2f} after, the best of "
        f"{found.n_tried} settings tried. The settings were selected on these days: expect a slightly larger "
        "error on new ones."
    )


def _next_step(found: Tuning, readings: Path, model: Path | None) -> str:
    if model is not None:
        return f"{model}: trained on all days. Next, on other days: occupair evaluate {model} READINGS"
    names = ("horizon", "stride", "smoothing", "ridge", "z_max", "n_hidden", "n_draws", "random_state")
    given = ", ".join(f"{name}={getattr(found.estimator, name)!r}" for name in names)
    return (
        f"In Python: OccupancyEstimator.paper({given})\n"
        f"To save a trained model: occupair tune {readings} --out room.occupair"
    )


def _as_json(found: Tuning, mode: str, folds: int) -> dict[str, Any]:
    from occupair.tuning import settings_of

    return {
        "mode": mode,
        "folds": folds,
        "tried": found.n_tried,
        "rmse_before": found.rmse_before,
        "rmse": found.rmse,
        "before": settings_of(found.before),
        "settings": settings_of(found.estimator),
    }
