"""Studies on public rooms: benchmark and validate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.shared import AsJson, bar, check_output
from occupair.deprecations import warn_deprecated
from occupair.errors import InputError

Rooms = Annotated[
    list[str] | None,
    typer.Argument(metavar="ROOM", help="Public rooms; default: the seven with ventilation readings."),
]


def benchmark(
    rooms: Rooms = None,
    methods: Annotated[str, typer.Option(help="Methods, comma-separated; default: all.")] = "",
    lags: Annotated[str, typer.Option(help="Lags of the estimates [min], comma-separated.")] = "0,10,20",
    path: Annotated[Path | None, typer.Option("--out", help="HTML report to write.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of cached results.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1,
    as_json: AsJson = False,
    leave_one_room_out: Annotated[
        bool,
        typer.Option(
            "--leave-one-room-out",
            help="Score the default estimator in public, altered and simulated rooms, with nothing chosen on "
            "the room itself, beside the best simple method.",
        ),
    ] = False,
) -> None:
    """Compare methods on public rooms.

    All methods use the same folds and scores, and no method uses readings later than the lag.

    Example: occupair benchmark sdu2018-1 robod-3 --methods occupair,mass-balance,svr
    """
    from occupair.benchmark.public_rooms import benchmark as run

    check_output(path, "report")
    if leave_one_room_out:
        if rooms or methods or path or as_json:
            raise InputError("--leave-one-room-out takes no rooms, --methods, --out or --json")
        from occupair.benchmark import leave_one_room_out as study
        from occupair.benchmark.room_variants import study_rooms

        with bar():
            result = study.leave_one_room_out(study_rooms(), lags=_parse_minutes(lags))
        typer.echo(study.as_markdown(result))
        return
    with bar():
        text = run(
            rooms=rooms or [],
            methods=_split(methods),
            lags=_parse_minutes(lags),
            out=path,
            as_json=as_json,
            cache=cache,
            jobs=jobs,
        )
    typer.echo(text)


def validate(rooms: Rooms = None, as_json: AsJson = False) -> None:
    """Validate the default estimator on public rooms.

    Measures the coverage of its prediction intervals and its accuracy with few labelled days.

    Example: occupair validate robod-1 robod-3
    """
    from occupair.benchmark.validation import validate as run

    with bar():
        text = run(rooms or [], as_json=as_json)
    typer.echo(text)


def prove(rooms: Rooms = None, as_json: AsJson = False) -> None:
    """Run 'occupair validate' (deprecated name)."""
    warn_deprecated("occupair prove")
    validate(rooms, as_json)


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _parse_minutes(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(minutes) for minutes in _split(text))
    except ValueError:
        raise InputError(f"lags must be minutes separated by commas, got {text!r}") from None
