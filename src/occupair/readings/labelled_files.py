"""Files of readings whose head counts are known here and there: no row is left out for want of a count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from occupair.readings.column_names import check_given
from occupair.readings.grid import put_on_grid
from occupair.readings.head_counts import WEIGHT, check_labelled
from occupair.readings.records import read_records
from occupair.readings.schema import Source
from occupair.readings.tables import read_raw
from occupair.readings.time_column import zone_of
from occupair.readings.unused_counts import without_unused
from occupair.readings.ventilation_units import check_full


def read_labelled(
    path: str | Path,
    *,
    timezone: str | None = None,
    ventilation: bool | None = None,
    columns: Mapping[str, str] | None = None,
    dayfirst: bool | None = None,
    ventilation_full: float | None = None,
    ventilation_unit: str | None = None,
) -> pd.DataFrame:
    r"""Read a CSV or Parquet file of readings to train or to score on.

    As ``read_readings``, with two differences. Rows in which CO2 and ventilation are known stay where the
    head count is not, so that what an estimator looks back over is whole. And a column ``occupancy_weight``
    is read if there is one. A count is that of its row; it is held through the rows after it only if the next
    count comes within ten minutes. A row with the weight 0 has no count, whatever its cell says, and none is
    held through it.

    Parameters
    ----------
    path, timezone, ventilation, columns, dayfirst, ventilation_full, ventilation_unit
        As for ``read_readings``.

    Returns
    -------
    DataFrame
        What ``occupair.readings.head_counts.check_labelled`` gives.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "room.csv"
    >>> _ = path.write_text("time,co2,occupancy\n2024-01-08 08:00,512,3\n2024-01-08 08:15,530,\n")
    >>> read_labelled(path)["occupancy"].tolist()
    [3.0, nan]
    """
    given, zone = check_given(columns), zone_of(timezone)
    check_full(ventilation_full, ventilation_unit)
    table = without_unused(read_raw(Path(path), given), given, "0")  # ``check_labelled`` takes it out again
    wanted = {"co2": True, "ventilation": ventilation, "occupancy": True}
    records = read_records(
        table,
        wanted | ({WEIGHT: None} if WEIGHT in table.names else {}),
        given=given,
        zone=zone,
        dayfirst=dayfirst,
        ventilation_full=ventilation_full,
        ventilation_unit=ventilation_unit,
    )
    if WEIGHT in records.columns:  # known wherever the count is, so that the grid holds both alike
        records[WEIGHT] = records[WEIGHT].fillna(1.0).where(records["occupancy"].notna())
    rows = put_on_grid(records, whole=False, source=table.source)
    rows = rows.dropna(subset=[name for name in ("co2", "ventilation") if name in rows.columns])
    if rows.empty:
        raise table.source.error("has no time at which co2 and ventilation are known")
    return check_labelled(rows, source=Source(f"{path} on its grid"))
