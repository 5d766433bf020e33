"""One Parquet table with mixed rooms as a folder per room, which workers can read room by room."""

from __future__ import annotations

from pathlib import Path

from occupair.errors import InputError
from occupair.fleet.room_sources import ROOM
from occupair.fleet.storage import describe_error, local_path, open_url

MOST_ROOMS = 1_000_000
OPEN_FILES = 900
"""Files that are open at a time; more rooms get several files each."""
ROWS_AT_ONCE = 100_000


def split_table(data: str | Path, out: str | Path) -> int:
    """Write the rows of Parquet files with a column ``room`` to folders ``room=NAME``; return their number.

    The rows are streamed, so memory does not grow with their number.

    Parameters
    ----------
    data : str or path
        Parquet file, or folder of such files.
    out : str or path
        Folder to write to; it must be empty or new.
    """
    import pyarrow as pa
    from pyarrow import dataset

    target = local_path(str(out))
    if target is not None and target.exists() and not target.is_dir():
        raise InputError(f"{out}: is not a folder: choose a new folder")
    if target is not None and target.exists() and any(target.iterdir()):
        raise InputError(f"{out}: is not empty: choose a new folder")
    system, path = open_url(str(data))
    out_system, out_path = open_url(str(out))
    try:
        source = dataset.dataset(path, filesystem=system, format="parquet")
        if ROOM not in source.schema.names:
            raise InputError(f"{data}: has no column {ROOM!r}: nothing to split")
        scanner = source.scanner(batch_size=ROWS_AT_ONCE, use_threads=False)
        dataset.write_dataset(
            scanner,
            out_path,
            filesystem=out_system,
            format="parquet",
            partitioning=dataset.partitioning(pa.schema([source.schema.field(ROOM)]), flavor="hive"),
            max_partitions=MOST_ROOMS,
            max_open_files=OPEN_FILES,
            existing_data_behavior="error",
            preserve_order=True,
        )
        return int(source.count_rows())
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{data}: cannot be split: {describe_error(error)}") from None
