"""The command replay: recorded readings sent to a running service."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from occupair.cli.shared import (
    Columns,
    Dayfirst,
    Readings,
    Timezone,
    bar,
    load_model,
    model_scale,
    note,
    out,
    read,
    read_labelled,
)

if TYPE_CHECKING:
    from occupair.live.replay import Replayed


def replay(
    readings: Readings,
    room: Annotated[str, typer.Option(help="Room of the live service, by id.")],
    url: Annotated[
        str,
        typer.Option(
            envvar="OCCUPAIR_URL", show_envvar=False, help="Address of the live service [env: OCCUPAIR_URL]."
        ),
    ] = "http://127.0.0.1:8099",
    speed: Annotated[
        float,
        typer.Option(help="Recorded time per real time; 60: an hour takes a minute; 0: all at once."),
    ] = 60.0,
    head_counts: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Also enter a head count of the file every MINUTES minutes."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Model of the room, to read the ventilation on its scale.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="OCCUPAIR_TOKEN",
            show_envvar=False,
            help="Access token with the role write, if the service has tokens [env: OCCUPAIR_TOKEN].",
        ),
    ] = None,
    timezone: Timezone = None,
    column: Columns = None,
    dayfirst: Dayfirst = None,
) -> None:
    """Send recorded readings to a live service.

    They are sent as if a sensor measured them now. Set clock = "readings" in [service] of its settings, so
    that it takes the time from the readings.

    Example: occupair replay today.csv --room lab --speed 600
    """
    from occupair.live.replay import ServiceClient
    from occupair.live.replay import replay as send

    service = ServiceClient(url, room, token)
    scale: dict[str, Any] = {} if model is None else model_scale(load_model(model, timezone))
    if head_counts is None:
        office = read(readings, timezone, column, dayfirst, **scale, occupancy=False)
    else:
        office = read_labelled(readings, timezone, column, dayfirst, **scale)
    with bar():
        done = send(office, service, speed=speed, head_count_every=head_counts)
    _summarise(done, room)
    if done.rejected:
        raise typer.Exit(1)


def _summarise(done: Replayed, room: str) -> None:
    from occupair.wording import plural

    outcomes = ", ".join(f"{number} {outcome}" for outcome, number in done.outcomes.most_common())
    entered = f", {plural(done.head_counts, 'head count')}" if done.head_counts else ""
    out.print(
        f"{room}: {plural(done.outcomes.total(), 'reading')} sent ({outcomes}){entered}.", soft_wrap=True
    )
    state = done.state
    if state["people"] is None:
        out.print(f"Count unknown: {state['reason']}.", soft_wrap=True)
        if state["quality"] == "stale":
            note('to replay recorded readings, set clock = "readings" in [service] and restart the service')
    else:
        limits = "" if state["low"] is None else f" ({state['low']:.1f} to {state['high']:.1f})"
        out.print(
            f"{plural(state['people'], 'person', 'people')}{limits} at {state['time']}.", soft_wrap=True
        )
    if done.rejected:
        note(f"{plural(done.rejected, 'reading')} rejected: {done.detail}")
