"""Contact sheets: the snapshots of a minute in one image, left to right in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from occupair.atomic_files import write_atomically
from occupair.groundtruth.video.frames import Image
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.snapshots import Region, Snapshot
from occupair.groundtruth.video.video_files import Video

SHEET_WIDTH = 1280
"""Width of a contact sheet [px]."""
ASPECT = 1.5
"""Width / height of the space for the picture on the counting page, on common screens."""
MAX_SNAPSHOTS, MAX_PER_RUN = 24, 8
"""Snapshots per sheet, and per run of uninterrupted motion; a sheet with many short runs has more."""

_CAPTION, _TITLE = 24, 30  # heights of the caption below a snapshot and of the title [px]
_GAP = 2  # between snapshots [px]
_MAX_COLUMNS = 6  # captions do not fit below narrower snapshots
_BACKGROUND = 20  # grey level of 255
_PAUSE = 1.2  # motion after a longer pause starts a new run [s]
_PADDING = 0.15  # shown around the moving region [fraction of the image]
_MIN_WIDTH = 0.5  # narrowest region shown [fraction of the image]
_DARK = 160  # snapshots whose 98th percentile is darker are brightened [grey levels of 255]
_RUN_COLOURS = ((92, 64, 24), (34, 84, 34))  # of captions, alternating between runs (BGR)
_OUTSIDE_COLOUR = (24, 64, 150)  # of captions of snapshots before or after the minute


def draw_sheet(video: Video, minute: int, score: float, snapshots: Sequence[Snapshot]) -> Image:
    """Draw the contact sheet of a minute.

    All snapshots show the same region, in which something moved, with the time below. Snapshots of one run of
    motion have captions of the same colour. Snapshots just before or after the minute have red captions:
    people who pass there are counted in the neighbouring minute.
    """
    runs = split_runs(snapshots)
    selected = [(one, _RUN_COLOURS[k % 2]) for k, run in enumerate(select_snapshots(runs)) for one in run]
    region = _common_region([one for one, _ in selected])
    height, width = _decode(selected[0][0]).shape[:2]
    columns = best_columns(len(selected), height / width)
    tile_width = SHEET_WIDTH // columns
    tiles = [_tile(video, minute, one, colour, region, tile_width) for one, colour in selected]
    rows = [np.hstack(tiles[k : k + columns]) for k in range(0, len(tiles), columns)]
    time = video.minute_of_day(minute)
    title = (
        f"{video.door}   {time:%Y-%m-%d  %H:%M}   score {score:.2f}   "
        f"{len(tiles)} of {len(snapshots)} snapshots"
    )
    return np.vstack([_title_bar(title), *(_widen(row) for row in rows)])


def best_columns(count: int, shape: float) -> int:
    """Return the number of columns with which snapshots appear largest on the counting page.

    Parameters
    ----------
    count : int
        Number of snapshots.
    shape : float
        Height / width of a snapshot.

    Examples
    --------
    >>> [best_columns(count, 9 / 16) for count in (1, 4, 8, 12, 24)]
    [1, 2, 3, 3, 5]
    """

    def shown_width(columns: int) -> float:
        width = SHEET_WIDTH // columns
        height = _TITLE + -(-count // columns) * (round(width * shape) + _CAPTION + _GAP)
        return width * min(1.0, SHEET_WIDTH / ASPECT / height)

    return max(range(1, _MAX_COLUMNS + 1), key=shown_width)


def split_runs(snapshots: Sequence[Snapshot]) -> list[list[Snapshot]]:
    """Split snapshots into runs of motion at pauses."""
    runs: list[list[Snapshot]] = []
    for one in sorted(snapshots, key=lambda one: one.second):
        if runs and one.second - runs[-1][-1].second <= _PAUSE:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def select_snapshots(runs: Sequence[list[Snapshot]]) -> list[list[Snapshot]]:
    """Select up to eight evenly spaced snapshots of every run, fewer if there are many runs."""
    wanted = [min(len(run), MAX_PER_RUN) for run in runs]
    while sum(wanted) > MAX_SNAPSHOTS and max(wanted) > 2:
        wanted[wanted.index(max(wanted))] -= 1
    return [
        [run[k] for k in np.unique(np.linspace(0, len(run) - 1, count).round().astype(int))]
        for run, count in zip(runs, wanted, strict=True)
    ]


def _common_region(snapshots: Sequence[Snapshot]) -> Region:
    """Region that encloses the motion of all snapshots, padded, with the aspect ratio of the image."""
    regions = np.array([one.region for one in snapshots])
    left, top = regions[:, :2].min(axis=0) - _PADDING
    right, bottom = regions[:, 2:].max(axis=0) + _PADDING
    size = min(1.0, max(_MIN_WIDTH, right - left, bottom - top))
    x = min(max((left + right - size) / 2, 0.0), 1 - size)
    y = min(max((top + bottom - size) / 2, 0.0), 1 - size)
    return x, y, x + size, y + size


def _decode(snapshot: Snapshot) -> Image:
    cv2: Any = opencv()
    image: Image = cv2.imdecode(snapshot.jpeg, cv2.IMREAD_COLOR)
    return image


def _tile(
    video: Video,
    minute: int,
    snapshot: Snapshot,
    colour: tuple[int, int, int],
    region: Region,
    tile_width: int,
) -> Image:
    cv2: Any = opencv()
    image = _decode(snapshot)
    height, width = image.shape[:2]
    tile_height = round(tile_width * height / width)
    crop = image[
        round(region[1] * height) : max(1, round(region[3] * height)),
        round(region[0] * width) : max(1, round(region[2] * width)),
    ]
    shrinks = crop.shape[1] > tile_width
    tile = cv2.resize(
        crop, (tile_width - _GAP, tile_height), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC
    )
    bright = float(np.percentile(tile[::4, ::4], 98))
    if bright < _DARK:
        tile = cv2.convertScaleAbs(tile, alpha=min(4.0, 1.3 * _DARK / max(bright, 1.0)))
    seconds = video.seconds_into(snapshot.second, minute)
    outside = "" if 0 <= seconds < 60 else ("  before" if seconds < 0 else "  after")
    caption = np.full((_CAPTION, tile_width - _GAP, 3), _OUTSIDE_COLOUR if outside else colour, np.uint8)
    time = video.minute_of_day(minute) + timedelta(seconds=seconds)
    text = f"{time:%H:%M:%S}.{time.microsecond // 100000}{outside}"
    cv2.putText(caption, text, (8, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return np.pad(np.vstack([tile, caption]), ((0, _GAP), (0, _GAP), (0, 0)), constant_values=_BACKGROUND)


def _widen(row: Image) -> Image:
    """Fill a row of snapshots up to the width of the sheet."""
    missing = SHEET_WIDTH - row.shape[1]
    return np.pad(row, ((0, 0), (0, missing), (0, 0)), constant_values=_BACKGROUND)


def _title_bar(title: str) -> Image:
    cv2: Any = opencv()
    bar = np.full((_TITLE, SHEET_WIDTH, 3), _BACKGROUND, np.uint8)
    ascii_only = title.encode("ascii", "replace").decode()
    cv2.putText(bar, ascii_only, (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (255, 255, 255), 1, cv2.LINE_AA)
    return bar


def write_sheet(path: Path, sheet: Image) -> None:
    """Write a contact sheet as JPEG, which only its owner can read."""
    cv2: Any = opencv()
    _, jpeg = cv2.imencode(".jpg", sheet, [cv2.IMWRITE_JPEG_QUALITY, 85])
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(path, jpeg.tobytes(), private=True)


def join_sheets(paths: Sequence[Path], out: Path) -> None:
    """Stack contact sheets of one minute from several videos; a single one is moved."""
    out.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if len(paths) == 1:
        paths[0].replace(out)
        return
    cv2: Any = opencv()
    images = (cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR) for path in paths)
    write_sheet(out, np.vstack([image for image in images if image is not None]))
