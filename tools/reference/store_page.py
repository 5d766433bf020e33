"""Tables of the store of the live service, from its schema."""

from typing import Any

from occupair.live.store.schema import metadata
from tools.reference.markdown import code, prose, table

INTRODUCTION = """# Store

Tables of the SQLite or PostgreSQL database of the live service. Other programs may read it while the
service is running, but must not write to it; a new version may change it, and migrates it at its first
start. Times are integer microseconds since 1970 in UTC; unknown values are NULL.
"""


def page() -> str:
    return INTRODUCTION + "".join(_section(one) for one in metadata.sorted_tables)


def _section(one: Any) -> str:
    rows = (
        [
            code(column.name),
            _kind(column),
            "primary" if column.primary_key else "",
            "yes" if column.nullable else "",
        ]
        for column in one.columns
    )
    columns = table(["Column", "Type", "Key", "May be NULL"], rows)
    return f"\n## {code(one.name)}\n\n{prose(one.info['description'])}\n\n{columns}"


def _kind(column: Any) -> str:
    kind = type(column.type).__name__.lower()
    return {"biginteger": "64-bit integer", "largebinary": "bytes", "double": "float"}.get(kind, kind)
