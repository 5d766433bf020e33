"""Commands of the live service: serve, token, backup, restore."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.shared import note, out
from occupair.errors import InputError

_LIVE = ("fastapi", "uvicorn", "aiomqtt", "sqlalchemy", "alembic", "pydantic", "prometheus_client")

Store = Annotated[
    str,
    typer.Option(
        envvar="OCCUPAIR_STORE",
        show_envvar=False,
        help="Database: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME; or set OCCUPAIR_STORE.",
    ),
]


def serve(
    rooms: Annotated[Path | None, typer.Argument(metavar="ROOMS.toml", help="Settings and rooms.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Five simulated rooms, sixty times as fast.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Say what the settings lead to, and stop.")] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on, instead of the settings'.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on.")] = None,
) -> None:
    """Count people in rooms, all day: readings in by MQTT and HTTP, counts out, and a page.

    Example: occupair serve rooms.toml
    """
    if demo == (rooms is not None) or (demo and check):
        raise InputError("serve takes the settings of rooms, ROOMS.toml, or --demo alone")
    need_live("serve", *(["amqtt"] if demo else []))
    if demo:
        from occupair.live.demo import serve_demo
        from occupair.web.hosts import is_loopback

        if host is not None and not is_loopback(host):
            raise InputError(f"--host: the demo has no tokens: must be a loopback address, got {host!r}")
        serve_demo(host or "127.0.0.1", port or 8099)
        return
    from occupair.live.config import read_config

    given = {"--host": host, "--port": None if port is None else str(port)}
    assert rooms is not None
    config = read_config(rooms, options={name: value for name, value in given.items() if value is not None})
    _need_postgres(config.store)
    if check:
        from occupair.live.config import look_at

        outlook = look_at(config)
        for line in outlook.rooms:
            out.print(line, soft_wrap=True)
        for line in outlook.warnings:
            note(f"warning: {line}")
        if outlook.faults:
            raise InputError(outlook.faults)
        return
    from occupair.live.config import check_files
    from occupair.live.service import serve as run

    check_files(config)
    run(config)


def token(
    role: Annotated[str, typer.Option(help="read, write (readings and labels) or admin (models).")],
    name: Annotated[str, typer.Option(help="Whose it is, for you to know: a-z, 0-9, _ and -.")] = "",
) -> None:
    """Make a token that lets a program or a person into the service.

    Example: occupair token --role read --name grafana
    """
    from occupair.web.tokens import hash_token, make_token

    if role not in ("read", "write", "admin"):
        raise InputError(f"--role must be read, write or admin, got {role!r}")
    name = name or role
    if not re.fullmatch(r"[a-z0-9_-]{1,64}", name):
        raise InputError(f"--name must be 1 to 64 of a-z, 0-9, _ and -, got {name!r}")
    made = make_token()
    note("this is the token; it is shown only now. The lines below it go into the settings.")
    out.print(made, soft_wrap=True)
    out.print(f'\n[tokens.{name}]\nrole = "{role}"\nhash = "{hash_token(made)}"', soft_wrap=True)


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    store: Store,
) -> None:
    """Keep all of a store in one file, also while the service runs.

    Example: occupair backup --store sqlite:///occupair.db occupair-backup.zip
    """
    need_live("backup")
    check_store(store)
    from occupair.live.store.backup import backup as run

    database = Path(store.removeprefix("sqlite:///").partition("?")[0])
    if path.exists() and database.exists() and path.samefile(database):
        raise InputError(f"{path}: is the store itself: give another name")
    run(store, path)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", soft_wrap=True)


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File that 'occupair backup' wrote.")],
    store: Store,
    replace: Annotated[bool, typer.Option("--replace", help="Drop what the store has now.")] = False,
) -> None:
    """Fill a store from a backup; the service must not run meanwhile.

    Example: occupair restore occupair-backup.zip --store postgresql://me@localhost/occupair
    """
    need_live("restore")
    check_store(store)
    from occupair.live.store.backup import restore as run

    run(path, store, replace=replace)
    out.print(f"{path}: restored", soft_wrap=True)


def check_store(store: str) -> None:
    """Refuse an address of a database that breaks a rule, or that needs more than is installed."""
    from occupair.live.config.rules import Broken
    from occupair.live.config.rules import store as rule

    try:
        rule(store)
    except Broken as broken:
        raise InputError(f"--store {broken}, got a value that is not shown") from None
    _need_postgres(store)


def need_live(command: str, *more: str) -> None:
    """Refuse a command whose packages, those of the live service and ``more``, are not installed."""
    if any(find_spec(module) is None for module in (*_LIVE, *more)):
        raise InputError(f"{command} needs more than is installed: pip install 'occupair[live]'")


def _need_postgres(store: str) -> None:
    if store.startswith("postgres") and find_spec("psycopg") is None:
        raise InputError("PostgreSQL needs more than is installed: pip install 'occupair[postgres]'")
