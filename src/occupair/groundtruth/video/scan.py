"""Find the minutes in which somebody may have passed a door, in videos of it.

Jiang et al. 2016, Section V-B, step 1. The paper lets the detector look at every frame; here it looks only
where something moves, and motion in which it finds nobody counts too, with a low score: a minute that is
missed makes a whole day wrong, one too many costs a glance.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from occupair.errors import InputError
from occupair.groundtruth.events import CandidateMinute, Events, sheet_path, write_events
from occupair.groundtruth.video.contact_sheets import join_sheets
from occupair.groundtruth.video.frames import length_of
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.scan_job import Job
from occupair.groundtruth.video.scan_store import ScanStore, Settings
from occupair.groundtruth.video.video_files import Video, coverage, find_videos
from occupair.progress import track
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import plural

SENSITIVITY = 0.9
MARGIN = 2.0
RATE = 5.0

_TICKS = 500  # of the progress bar


@dataclass(frozen=True)
class Summary:
    """What a scan did and found."""

    events: Events
    seconds: float  # of video that were scanned now
    elapsed: float  # how long that took [s]
    known: float = 0.0  # seconds of video that had been scanned before
    problems: tuple[str, ...] = ()  # videos that could not be read whole, one line each

    @property
    def factor(self) -> float:
        """How many times faster than real time the scan was."""
        return self.seconds / self.elapsed if self.elapsed > 0 else 0.0

    def lines(self) -> list[str]:
        """Say it in words: the doors, what is wrong with their videos, and how fast it was."""
        words = []
        for name, door in self.events.doors.items():
            hours = sum(one.seconds for one in door.files) / 3600
            kept = sum(one.door == name for one in self.events.minutes)
            words.append(
                f"{name}: {plural(len(door.files), 'video')}, {hours:.1f} h, somebody may have passed in "
                f"{plural(kept, 'minute')}"
            )
            words += [f"{name}: nothing recorded from {_span(gap)}" for gap in door.gaps]
            words += [f"{name}: recorded twice from {_span(overlap)}" for overlap in door.overlaps]
        words += self.problems
        if self.known:
            words.append(f"{self.known / 3600:.1f} h of video had been scanned before")
        if self.seconds:
            words.append(
                f"{self.seconds / 3600:.1f} h of video in {self.elapsed:.0f} s: "
                f"{self.factor:.0f} times as fast as real time"
            )
        return words


def _span(span: tuple[datetime, datetime]) -> str:
    begin, end = span
    until = f"{end:%H:%M:%S}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M:%S}"
    return f"{begin:%Y-%m-%d %H:%M:%S} to {until}"


def scan_videos(
    videos: Sequence[Path | str],
    out: Path | str,
    *,
    doors: Mapping[str, str] | None = None,
    start: datetime | None = None,
    sensitivity: float = SENSITIVITY,
    margin: float = MARGIN,
    rate: float = RATE,
    timezone: str | None = None,
    resume: bool = True,
) -> Summary:
    """Find the minutes of videos in which somebody may have passed, and write an events folder.

    A scan that was stopped goes on where it was, and gives what one that was not would have given. Videos
    that are scanned later into the same folder are added to those that are there.

    Parameters
    ----------
    videos : sequence of Path
        Videos, and folders of them.
    out : Path
        The events folder: ``index.json``, and a contact sheet for each minute.
    doors : mapping of str to str, optional
        Names of doors and which videos are theirs; see
        ``occupair.groundtruth.video.video_files.find_videos``.
    start : datetime, optional
        When the first video of each door starts, where names and containers do not say it or are wrong.
    sensitivity : float
        Minutes with a score of at least 1 - sensitivity are kept. A frame in which the detector finds a
        person scores 0.5 to 1, by how sure it is; motion in which it finds nobody scores up to 0.45, the
        more the larger it is and the longer it lasts. So 0.5 keeps what the detector finds, 1 all that
        moves. ``python tools/scan_recall.py`` measures what each setting finds and lets through.
    margin : float
        A passage this close to the border of a minute belongs to both minutes [s].
    rate : float
        Frames that are looked at [1/s].
    timezone : str, optional
        Of the room, where the clock changes, or where names or containers give the time in UTC.
    resume : bool
        Whether to go on from what the folder holds of these videos; else they are scanned anew.

    Raises
    ------
    InputError
        If OpenCV is missing, a setting breaks its rule, a start cannot be found, or no video can be read.
        Videos that are damaged are scanned as far as they go and named in ``Summary.problems``.
    """
    opencv()
    settings = _check(sensitivity, margin, rate, timezone)
    zone, out = parse_time_zone(timezone), Path(out)
    found = find_videos(videos, doors=doors, start=start, zone=zone, length=length_of)
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file, give the name of a folder")
    store = ScanStore(out)
    store.folder.mkdir(parents=True, exist_ok=True)
    jobs = _jobs(found, store, out, settings, resume)
    began = time.monotonic()
    _work(jobs)
    records = [job.record for job in jobs if job.record is not None]
    if all(record.recording.frames == 0 for record in records):
        raise InputError("; ".join(record.recording.problem or "no frames" for record in records))
    events = _write(out, store)
    return Summary(
        events,
        sum(job.done - job.known for job in jobs),
        time.monotonic() - began,
        sum(job.known for job in jobs),
        tuple(record.recording.problem for record in records if record.recording.problem),
    )


def _check(sensitivity: float, margin: float, rate: float, timezone: str | None) -> Settings:
    if not 0 <= sensitivity <= 1:
        raise InputError(f"sensitivity must be 0 to 1, got {sensitivity}")
    if not 0 <= margin <= 30:
        raise InputError(f"margin must be 0 to 30 seconds, got {margin}")
    if not 0.5 <= rate <= 60:
        raise InputError(f"rate must be 0.5 to 60 frames a second, got {rate}")
    return Settings(float(sensitivity), float(margin), float(rate), timezone)


def _jobs(found: Sequence[Video], store: ScanStore, out: Path, settings: Settings, resume: bool) -> list[Job]:
    """Say what is to do, and forget what was known of videos that are scanned anew or have changed."""
    keys = {store.key_of(video): video for video in found}
    jobs = []
    for key, video in keys.items():
        record = store.record(key) if resume else None
        if record is not None and record.settings != settings:
            record = None
        for old in store.stale(key, video) - (keys.keys() - {key}):
            if old != key or record is None:
                _forget(store, old, out, keep_checkpoint=resume and old == key)
        before = record.recording.seconds if record else 0.0
        jobs.append(Job(video, key, store, settings, record, before, before))
    return jobs


def _forget(store: ScanStore, key: str, out: Path, *, keep_checkpoint: bool) -> None:
    """Remove what is known of a video, and its sheets; a scan of it that was stopped may go on."""
    record = store.record(key)
    if record is not None:
        for hit in record.hits:
            sheet_path(out, record.door, hit.minute).unlink(missing_ok=True)
    if record is not None or not keep_checkpoint:
        store.forget(key)


def _work(jobs: Sequence[Job]) -> None:
    """Scan videos side by side, as many as there are cores, and show how far all of them are."""
    todo = [job for job in jobs if job.record is None]
    if not todo:
        return
    lengths = {job.key: length_of(job.video.path) or 1.0 for job in todo}
    whole = sum(lengths.values())

    def share() -> float:
        return (
            sum(lengths[job.key] if job.record else min(job.done, lengths[job.key]) for job in todo) / whole
        )

    with ThreadPoolExecutor(min(len(todo), os.cpu_count() or 1)) as pool:
        running = [pool.submit(job.run) for job in todo]
        try:
            for tick in track(range(1, _TICKS + 1), "scanning"):
                _wait(running, lambda tick=tick: share() >= tick / _TICKS)  # type: ignore[misc]
        finally:
            for job in todo:
                job.stop.set()
            for one in running:
                one.cancel()
    for one in running:
        one.result()


def _wait(running: Sequence[Future[None]], reached: Callable[[], bool]) -> None:
    """Wait until a share of the work is done, or all of it, or some of it failed."""
    while not reached():
        over, going = wait(running, timeout=0)
        for one in over:
            one.result()
        if not going:
            return
        wait(going, timeout=0.1, return_when=FIRST_COMPLETED)


def _write(out: Path, store: ScanStore) -> Events:
    """Put the sheets in their places and write the index of all videos that were ever scanned."""
    records = store.records()
    scores: dict[tuple[str, datetime], float] = defaultdict(float)
    pieces: dict[tuple[str, datetime], list[Path]] = defaultdict(list)
    for record in records:
        for hit in record.hits:
            place = record.door, hit.minute
            scores[place] = max(scores[place], hit.score)
            piece = store.sheet(record.key, hit.number)
            pieces[place] += [piece] if piece.exists() else []
    for (door, minute), new in pieces.items():
        sheet = sheet_path(out, door, minute)
        if new:
            join_sheets([*([sheet] if sheet.exists() else []), *new], sheet)
            for piece in new:
                piece.unlink(missing_ok=True)
    store.tidy()
    doors = {
        door: coverage([(one.recording, one.end) for one in records if one.door == door])
        for door in sorted({one.door for one in records})
    }
    minutes = [
        CandidateMinute(door, minute, score, sheet_path(out, door, minute))
        for (door, minute), score in scores.items()
    ]
    events = Events(out, doors, sorted(minutes, key=lambda one: (one.minute, one.door)))
    write_events(events)
    return events
