"""The datasets commands: list and download public data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.shared import bar, out

datasets_app = typer.Typer(rich_markup_mode=None)


@datasets_app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the public data sets with their licence and location.

    Example: occupair datasets
    """
    from occupair.datasets import DATASETS, find_folder

    if context.invoked_subcommand:
        return
    for name, data_set in DATASETS.items():
        folder = find_folder(name)
        out.print(f"{name}: {data_set.title}", soft_wrap=True)
        out.print(f"    {data_set.licence}; {data_set.page}", soft_wrap=True)
        place = f"in {folder}" if folder else f"to download: occupair datasets fetch {name}"
        out.print(f"    {place}", soft_wrap=True)


@datasets_app.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Data set, as listed by 'occupair datasets'.")],
    folder: Annotated[
        Path | None,
        typer.Option("--into", help="Parent folder; default: OCCUPAIR_DATA, else the user's cache folder."),
    ] = None,
) -> None:
    """Download a data set from its publisher and verify its checksums.

    Example: occupair datasets fetch sdu2018 --into occupair-data
    """
    from occupair.datasets import fetch as download
    from occupair.datasets.catalogue import data_folders

    found = data_folders()
    parent = found[0] if folder is None else folder
    with bar():
        files = download(name, parent / name)
    out.print(f"{parent / name}: {len(files)} files.", soft_wrap=True)
    if parent.resolve() not in [one.resolve() for one in found]:
        out.print(f"To use it: export OCCUPAIR_DATA={parent.resolve()}", soft_wrap=True)
