"""Commands of the live service: serve, token, backup, restore; and of its container, home-assistant."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from occupair.cli.shared import note, out
from occupair.errors import InputError
from occupair.output_names import check_suffix

_LIVE = ("fastapi", "uvicorn", "aiomqtt", "sqlalchemy", "alembic", "pydantic_settings", "prometheus_client")

Store = Annotated[
    str,
    typer.Option(
        envvar="OCCUPAIR_STORE",
        show_envvar=False,
        help="Database URL: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME [env: OCCUPAIR_STORE].",
    ),
]


def serve(
    rooms: Annotated[
        Path | None, typer.Argument(metavar="ROOMS.toml", help="Settings file with the rooms.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve six simulated rooms at 60 times real time.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Check settings and database, summarise each room and exit."),
    ] = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on; overrides the settings.")] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on; overrides the settings.")
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER/COUNT",
            help="Serve one of COUNT parts of the rooms, such as 2/8; needs PostgreSQL.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Serve the rooms with this many processes, one shard each; needs PostgreSQL."
        ),
    ] = None,
) -> None:
    """Run the live service.

    It receives readings over MQTT and HTTP, publishes occupancy estimates over both, and has a web page.

    Example: occupair serve rooms.toml
    """
    if demo == (rooms is not None) or (demo and check):
        raise InputError(
            "serve takes either a settings file ROOMS.toml or --demo, and --check only with a file"
        )
    if shard is not None and workers is not None:
        raise InputError("serve takes either --shard or --workers")
    if demo and (shard is not None or workers is not None):
        raise InputError("--shard and --workers need a settings file ROOMS.toml, not --demo")
    need_live("serve", *(["amqtt"] if demo else []))
    if demo:
        from occupair.live.demo import serve_demo
        from occupair.web.hosts import is_loopback

        if host is not None and not is_loopback(host):
            raise InputError(
                f"--host must be a loopback address, because the demo has no tokens, got {host!r}"
            )
        serve_demo(host or "127.0.0.1", port or 8099)
        return
    from occupair.live.config import read_config

    given = {"--host": host, "--port": None if port is None else str(port), "--shard": shard}
    options = {name: value for name, value in given.items() if value is not None}
    assert rooms is not None
    config = read_config(rooms, options=options)
    if workers is not None:
        if config.shard is not None:
            raise InputError("--workers must not be used together with the setting shard")
        config = read_config(rooms, options=options | {"--workers": f"1/{workers}"})
    _need_postgres(config.store)
    if config.bacnet is not None:
        from occupair.live.bacnet.port_check import need_bacpypes3

        need_bacpypes3()
    if check:
        from occupair.live.startup_check import check_config

        report = check_config(config)
        for line in filter(None, [report.store, *report.rooms]):
            out.print(line, soft_wrap=True)
        for line in report.warnings:
            note(f"warning: {line}")
        if report.mistakes:
            raise InputError(report.mistakes)
        return
    from occupair.live.service import serve as run
    from occupair.live.startup_check import check_files

    check_files(config)
    if workers is not None:
        from occupair.live.workers import serve_workers

        serve_workers(config, rooms, options, workers)
        return
    run(config)


def home_assistant(
    data: Annotated[Path, typer.Option(help="Private folder of the app, with options.json.")] = Path("/data"),
    config: Annotated[Path, typer.Option(help="Configuration folder of the app.")] = Path("/config"),
    supervisor: Annotated[str, typer.Option(help="URL of the Supervisor.")] = "http://supervisor",
    user: Annotated[int, typer.Option(min=0, help="User to run as, if started by root.")] = 10_001,
) -> None:
    """Run the live service as an app of Home Assistant, which starts this command in its container."""
    need_live("home-assistant")
    from occupair.live.home_assistant import serve_app

    serve_app(data, config, supervisor, user=user)


def token(
    role: Annotated[
        str,
        typer.Option(help="read, write (also post readings and head counts) or admin (also manage models)."),
    ],
    name: Annotated[
        str, typer.Option(help="Name of the token in the settings: a-z, 0-9, _ and - [default: the role].")
    ] = "",
) -> None:
    """Create an access token for the live service.

    Example: occupair token --role read --name grafana
    """
    from occupair.live.config.values import ID_PATTERN
    from occupair.web.tokens import hash_token, make_token

    if role not in ("read", "write", "admin"):
        raise InputError(f"--role must be read, write or admin, got {role!r}")
    name = name or role
    if not re.fullmatch(ID_PATTERN, name):
        raise InputError(f"--name must be 1 to 64 characters of a-z, 0-9, _ and -, got {name!r}")
    new = make_token()
    note("copy the token now, it is not shown again; add the lines below it to the settings file")
    out.print(new, soft_wrap=True)
    out.print(f'\n[tokens.{name}]\nrole = "{role}"\nhash = "{hash_token(new)}"', soft_wrap=True)


def backup(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file to write.")],
    store: Store,
) -> None:
    """Back up the database of the live service to one file.

    The service may be running.

    Example: occupair backup --store sqlite:///occupair.db occupair-backup.zip
    """
    need_live("backup")
    check_store(store)
    from occupair.live.store.backup import backup as run

    database = Path(store.removeprefix("sqlite:///").partition("?")[0])
    if path.exists() and database.exists() and path.samefile(database):
        raise InputError(f"{path}: is the database itself, choose another file name")
    check_suffix(path, "backup")
    run(store, path)
    out.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", soft_wrap=True)


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Backup file written by 'occupair backup'.")],
    store: Store,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the current contents of the database first.")
    ] = False,
) -> None:
    """Restore the live service's database from a backup.

    Stop the service first: a database that is in use is not restored.

    Example: occupair restore occupair-backup.zip --store postgresql://me@localhost/occupair
    """
    need_live("restore")
    check_store(store)
    from occupair.live.store.backup import restore as run

    run(path, store, replace=replace)
    out.print(f"{path}: restored", soft_wrap=True)


def check_store(store: str) -> None:
    """Raise `InputError` for an invalid database URL, or if its driver is not installed."""
    from occupair.live.config import check_store_url

    try:
        check_store_url(store)
    except ValueError as error:
        raise InputError(f"--store {error}, got a value that is not shown") from None
    _need_postgres(store)


def need_live(command: str, *more: str) -> None:
    """Raise `InputError` if packages of the live service, or those in ``more``, are not installed."""
    if any(find_spec(module) is None for module in (*_LIVE, *more)):
        raise InputError(f"{command} requires packages that are not installed: pip install 'occupair[live]'")


def _need_postgres(store: str) -> None:
    if store.startswith("postgres") and find_spec("psycopg") is None:
        raise InputError(
            "PostgreSQL requires packages that are not installed: pip install 'occupair[postgres]'"
        )
