"""Runs revisions over the connection that `engine.upgrade` gives, inside its transaction."""

from __future__ import annotations

from alembic import context

from occupair.live.store.schema import metadata


def run() -> None:
    """Run the revisions that are asked for."""
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    context.run_migrations()


if __name__ == "env_py":  # as alembic calls it; who only imports it runs nothing
    run()
