"""Contact sheets: the shots of a minute on one picture, left to right in time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from occupair.atomic_files import write_atomically
from occupair.groundtruth.video.frames import Picture
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.snapshots import Box, Snapshot
from occupair.groundtruth.video.video_files import Video

COLUMNS, CELL = 4, 320
"""Shots side by side, and the width of each [px]."""
MOST, MOST_OF_ONE = 24, 8
"""Shots on a sheet, and of motion that goes on without a pause; with many pauses there are more."""

_BAR, _HEAD = 24, 30  # heights of the stamp below a shot and of the title [px]
_PAUSE = 1.2  # motion after so long a pause is drawn as something new [s]
_AROUND = 0.15  # of the picture is shown around what moved
_LEAST = 0.5  # of the width of the picture is shown at least
_DARK = 160  # a shot whose lightest parts are darker than this is lightened [of 255]
_TINTS = ((92, 64, 24), (34, 84, 34))  # of the stamps, in turn for each stretch of motion (BGR)
_OUTSIDE = (24, 64, 150)  # of the stamps of shots that lie before or after the minute


def draw_sheet(video: Video, minute: int, score: float, shots: Sequence[Snapshot]) -> Picture:
    """Draw the sheet of a minute.

    All shots show the same part of the picture, that in which something moved. Below each stands its time;
    shots without a pause between them have stamps of one colour. Shots just before or after the minute have
    red stamps: who passes there is counted in the other minute.
    """
    runs = split(shots)
    chosen = [(shot, _TINTS[k % 2]) for k, run in enumerate(choose(runs)) for shot in run]
    box = _common_box([shot for shot, _ in chosen])
    cells = [_cell(video, minute, shot, tint, box) for shot, tint in chosen]
    blank = np.full_like(cells[0], 20)
    rows = [
        np.hstack([*cells[k : k + COLUMNS], *[blank] * (COLUMNS - len(cells[k : k + COLUMNS]))])
        for k in range(0, len(cells), COLUMNS)
    ]
    moment = video.minute_of_day(minute)
    words = (
        f"{video.door}   {moment:%Y-%m-%d  %H:%M}   score {score:.2f}   {len(cells)} of {len(shots)} shots"
    )
    return np.vstack([_title(words, COLUMNS * CELL), *rows])


def split(shots: Sequence[Snapshot]) -> list[list[Snapshot]]:
    """Cut a row of shots where nothing moved for a while."""
    runs: list[list[Snapshot]] = []
    for shot in sorted(shots, key=lambda one: one.second):
        if runs and shot.second - runs[-1][-1].second <= _PAUSE:
            runs[-1].append(shot)
        else:
            runs.append([shot])
    return runs


def choose(runs: Sequence[list[Snapshot]]) -> list[list[Snapshot]]:
    """Take shots of every stretch of motion, spread evenly over it: eight, or fewer where there are many."""
    wanted = [min(len(run), MOST_OF_ONE) for run in runs]
    while sum(wanted) > MOST and max(wanted) > 2:
        wanted[wanted.index(max(wanted))] -= 1
    return [
        [run[k] for k in np.unique(np.linspace(0, len(run) - 1, count).round().astype(int))]
        for run, count in zip(runs, wanted, strict=True)
    ]


def _common_box(shots: Sequence[Snapshot]) -> Box:
    """Give the part of the picture in which anything moved, with room around it and the picture's shape."""
    boxes = np.array([shot.box for shot in shots])
    left, top = boxes[:, :2].min(axis=0) - _AROUND
    right, bottom = boxes[:, 2:].max(axis=0) + _AROUND
    size = min(1.0, max(_LEAST, right - left, bottom - top))
    x = min(max((left + right - size) / 2, 0.0), 1 - size)
    y = min(max((top + bottom - size) / 2, 0.0), 1 - size)
    return x, y, x + size, y + size


def _cell(video: Video, minute: int, shot: Snapshot, tint: tuple[int, int, int], box: Box) -> Picture:
    cv2: Any = opencv()
    picture = cv2.imdecode(shot.jpeg, cv2.IMREAD_COLOR)
    height, width = picture.shape[:2]
    high = round(CELL * height / width)
    cut = picture[
        round(box[1] * height) : max(1, round(box[3] * height)),
        round(box[0] * width) : max(1, round(box[2] * width)),
    ]
    shown = cv2.resize(
        cut, (CELL - 2, high), interpolation=cv2.INTER_AREA if cut.shape[1] > CELL else cv2.INTER_CUBIC
    )
    bright = float(np.percentile(shown[::4, ::4], 98))
    if bright < _DARK:
        shown = cv2.convertScaleAbs(shown, alpha=min(4.0, 1.3 * _DARK / max(bright, 1.0)))
    into = video.seconds_into(shot.second, minute)
    outside = "" if 0 <= into < 60 else ("  before" if into < 0 else "  after")
    stamp = np.full((_BAR, CELL - 2, 3), _OUTSIDE if outside else tint, np.uint8)
    moment = video.minute_of_day(minute) + timedelta(seconds=into)
    words = f"{moment:%H:%M:%S}.{moment.microsecond // 100000}{outside}"
    cv2.putText(stamp, words, (8, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return np.pad(np.vstack([shown, stamp]), ((0, 2), (0, 2), (0, 0)), constant_values=20)


def _title(words: str, width: int) -> Picture:
    cv2: Any = opencv()
    bar = np.full((_HEAD, width, 3), 20, np.uint8)
    plain = words.encode("ascii", "replace").decode()
    cv2.putText(bar, plain, (8, 20), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (255, 255, 255), 1, cv2.LINE_AA)
    return bar


def write_sheet(path: Path, sheet: Picture) -> None:
    """Write a sheet as JPEG."""
    cv2: Any = opencv()
    _, jpeg = cv2.imencode(".jpg", sheet, [cv2.IMWRITE_JPEG_QUALITY, 85])
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, jpeg.tobytes())


def join_sheets(paths: Sequence[Path], out: Path) -> None:
    """Put sheets of one minute from several videos below each other; a single one moves as it is."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if len(paths) == 1:
        paths[0].replace(out)
        return
    cv2: Any = opencv()
    read = (cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_COLOR) for path in paths)
    write_sheet(out, np.vstack([sheet for sheet in read if sheet is not None]))
