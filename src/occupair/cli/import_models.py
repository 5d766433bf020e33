"""The import command: settings of the live service from a building model or a portfolio."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.export_models import Replace, check_document, need_rdflib, write_document
from occupair.cli.service import need_live
from occupair.cli.shared import Timezone, note
from occupair.errors import InputError
from occupair.wording import plural

import_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@import_app.callback()
def import_() -> None:
    """Write settings from a building model or portfolio.

    Example: occupair import brick building.ttl --out rooms.toml
    """


@import_app.command()
def brick(
    model: Annotated[Path, typer.Argument(metavar="BUILDING.ttl", help="Brick model in Turtle.")],
    path: Annotated[
        Path | None, typer.Option("--out", help="Settings file to write; default: print the settings.")
    ] = None,
    timezone: Timezone = None,
    overwrite: Replace = False,
) -> None:
    """Write rooms.toml from a Brick model.

    Its rooms are the rooms and zones that have a CO2 sensor. Comments with CHECK in the file name what the
    model leaves open.

    Example: occupair import brick building.ttl --out rooms.toml --timezone Europe/Copenhagen
    """
    need_live("import")
    need_rdflib("import brick")
    check_document(path, "settings", model, overwrite=overwrite)
    from occupair.live.semantic.brick_import import import_brick
    from occupair.live.semantic.brick_model import read_model
    from occupair.live.semantic.rooms_toml import format_draft

    _check_timezone(timezone)
    try:
        draft = import_brick(read_model(model), timezone=timezone)
    except InputError as error:
        raise InputError(str(error) if str(error).startswith(str(model)) else f"{model}: {error}") from None
    write_document(path, format_draft(draft, origin=model.name))
    checks = f"; {plural(draft.n_checks, 'line')} marked CHECK" if draft.n_checks else ""
    note(f"{plural(len(draft.rooms), 'room')}{checks}")


@import_app.command()
def fleet(
    models: Annotated[Path, typer.Argument(metavar="MODELS", help="Folder written by 'occupair fleet fit'.")],
    co2: Annotated[
        str,
        typer.Option(help="MQTT topic of the CO2 readings, with {room}, {id} or both, e.g. bms/{room}/co2."),
    ],
    ventilation: Annotated[
        str | None, typer.Option(help="MQTT topic of the ventilation signal, likewise.")
    ] = None,
    path: Annotated[
        Path | None, typer.Option("--out", help="Settings file to write; default: print the settings.")
    ] = None,
    timezone: Timezone = None,
    overwrite: Replace = False,
) -> None:
    """Write rooms.toml for the rooms of a portfolio, with their models.

    Example: occupair import fleet models --co2 bms/{room}/co2 --ventilation bms/{room}/fan --out rooms.toml
    """
    need_live("import")
    check_document(path, "settings", models / "rooms.parquet", overwrite=overwrite)
    from occupair.fleet.training_run import read_fleet
    from occupair.live.semantic.fleet_import import FleetRoom, import_fleet
    from occupair.live.semantic.rooms_toml import format_draft

    _check_timezone(timezone)
    beside = (Path() if path is None else path.parent).resolve()
    rooms = [
        FleetRoom(
            one.room,
            os.path.relpath((models / one.model).resolve(), beside) if one.model else "",
            one.reason,
            capacity=one.capacity,
            volume=one.volume,
            timezone=one.timezone,
            uses_ventilation=one.ventilation,
        )
        for one in read_fleet(models)
    ]
    draft = import_fleet(rooms, co2=co2, ventilation=ventilation, timezone=timezone)
    write_document(path, format_draft(draft, origin=str(models)))
    checks = f"; {plural(draft.n_checks, 'line')} marked CHECK" if draft.n_checks else ""
    note(f"{plural(len(draft.rooms), 'room')}{checks}")


def _check_timezone(timezone: str | None) -> None:
    from zoneinfo import available_timezones

    if timezone is not None and timezone not in available_timezones():
        raise InputError(f"--timezone must be an IANA time zone such as Europe/Copenhagen, got {timezone!r}")
