"""The export commands: rooms of the live service as a building model."""

from __future__ import annotations

from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from occupair.cli.service import need_live
from occupair.cli.shared import check_output, note
from occupair.errors import InputError
from occupair.output_names import Format

if TYPE_CHECKING:
    from occupair.live.config import ServiceConfig

export_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)

Rooms = Annotated[Path, typer.Argument(metavar="ROOMS.toml", help="Settings file with the rooms.")]
Building = Annotated[str, typer.Option(help="Name of the building.")]
Replace = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]


@export_app.callback()
def export() -> None:
    """Export the rooms as a building model.

    It contains the rooms, points and references of the live service.

    Example: occupair export brick rooms.toml --out building.ttl
    """


@export_app.command()
def brick(
    rooms: Rooms,
    path: Annotated[
        Path | None, typer.Option("--out", help="Turtle file to write; default: print the model.")
    ] = None,
    namespace: Annotated[
        str, typer.Option(help="Start of the IRIs of rooms and points; ends in # or /.")
    ] = "urn:building#",
    building: Building = "Building",
    overwrite: Replace = False,
) -> None:
    """Export the rooms as a Brick model in Turtle.

    Example: occupair export brick rooms.toml --out building.ttl --namespace https://example.org/hall#
    """
    need_live("export")
    need_rdflib("export brick")
    check_document(path, "turtle", rooms, overwrite=overwrite)
    from occupair.live.config import read_config
    from occupair.live.semantic.brick_export import export_brick

    config = read_config(rooms)
    objects = bacnet_objects(config)
    write_document(path, export_brick(config, namespace=namespace, building=building, objects=objects))


@export_app.command()
def haystack(
    rooms: Rooms,
    path: Annotated[
        Path | None, typer.Option("--out", help="JSON file to write; default: print the grid.")
    ] = None,
    building: Building = "Building",
    overwrite: Replace = False,
) -> None:
    """Export the rooms as a Project Haystack 4 grid in JSON.

    Example: occupair export haystack rooms.toml --out building.json
    """
    need_live("export")
    check_document(path, "json", rooms, overwrite=overwrite)
    from occupair.live.config import read_config
    from occupair.live.semantic.haystack_export import export_haystack

    config = read_config(rooms)
    write_document(path, export_haystack(config, building=building, objects=bacnet_objects(config)))


def bacnet_objects(config: ServiceConfig) -> dict[str, dict[str, str]]:
    """Return the BACnet objects of the counts, whose instance numbers the store has once the service ran."""
    if config.bacnet is None:
        return {}
    from occupair.live.bacnet.instance_numbers import object_names
    from occupair.live.store import Store, StoreError

    with closing(Store(config.store)) as store:
        is_missing = store.url.get_backend_name() == "sqlite" and not Path(str(store.url.database)).is_file()
        try:
            return {} if is_missing else object_names(store.known_room_numbers())
        except StoreError as error:
            note(f"the BACnet objects of the counts are not exported: {error}")
            return {}


def need_rdflib(command: str) -> None:
    """Raise `InputError` if rdflib is not installed."""
    if find_spec("rdflib") is None:
        raise InputError(
            f"{command} requires packages that are not installed: pip install 'occupair[live,semantic]'"
        )


def check_document(path: Path | None, form: Format, read_from: Path, *, overwrite: bool) -> None:
    """Check a file to write: it does not exist yet, unless it may be replaced, and matches its format."""
    check_output(path, form, read_from)
    if path is not None and path.is_file() and not overwrite:
        raise InputError(f"--out {path} exists: choose another name, or add --overwrite")


def write_document(path: Path | None, text: str) -> None:
    """Write text to a file, or print it."""
    from occupair.atomic_files import write_atomically

    if path is None:
        print(text, end="")  # noqa: T201
    else:
        write_atomically(path, text)
