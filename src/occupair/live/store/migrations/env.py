"""Runs migrations on the connection of `database.upgrade`, within its transaction."""

from __future__ import annotations

from alembic import context

from occupair.live.store.schema import metadata


def run() -> None:
    """Run the requested revisions."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()


if __name__ == "env_py":  # run by alembic; a plain import runs nothing
    run()
