"""Scan door videos for candidate minutes, in which somebody may have passed.

Step 1 of Jiang et al. 2016, Section V-B. The paper runs the person detector on every frame. Here it only
runs where something moves, and motion without a detected person counts too, with a low score: a missed
minute makes the occupancy of the rest of the day wrong, whereas a needless one costs a glance.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from occupair.errors import InputError
from occupair.groundtruth.events import CandidateMinute, Events, sheet_path, write_events
from occupair.groundtruth.video.contact_sheets import join_sheets
from occupair.groundtruth.video.frames import RATE, declared_length
from occupair.groundtruth.video.network_detector import NetworkDetector
from occupair.groundtruth.video.opencv import opencv
from occupair.groundtruth.video.person_detector import PERSON_SCORE
from occupair.groundtruth.video.scan_job import ScanJob
from occupair.groundtruth.video.scan_store import ScanRecord, ScanSettings, ScanStore
from occupair.groundtruth.video.video_files import (
    Video,
    find_videos,
    recording_coverage,
    span_text,
)
from occupair.progress import track
from occupair.readings.time_zones import parse_time_zone
from occupair.wording import duration, plural

SENSITIVITY = 0.9
"""Default sensitivity [0..1]."""
MARGIN = 2.0
"""Default distance from a minute boundary within which a passage belongs to both minutes [s]."""

_PROGRESS_STEPS = 500


@dataclass(frozen=True)
class ScanSummary:
    """Result and statistics of a scan."""

    events: Events
    seconds: float  # length of video scanned in this run
    elapsed: float  # run time [s]
    already_scanned: float = 0.0  # length of video scanned in earlier runs [s]
    problems: tuple[str, ...] = ()  # videos that could not be read completely, one line each

    @property
    def speed(self) -> float:
        """Speed of the scan as a multiple of real time."""
        return self.seconds / self.elapsed if self.elapsed > 0 else 0.0

    def lines(self) -> list[str]:
        """Describe the doors, the problems of their videos, and the speed."""
        lines = []
        for name, door in self.events.doors.items():
            length = duration(sum(one.seconds for one in door.files))
            scores = [one.score for one in self.events.minutes if one.door == name]
            videos, candidates = plural(len(door.files), "video"), plural(len(scores), "candidate minute")
            lines.append(f"{name}: {videos}, {length}, {candidates}")
            motion_only = sum(score < PERSON_SCORE for score in scores)
            if motion_only:
                lines.append(
                    f"{name}: motion only in {motion_only} of {candidates}, without a detected person"
                )
            gaps = [f"no picture from {span_text(gap)}" for gap in door.gaps]
            in_file = " ".join(one.problem or "" for one in door.files)  # damaged spots, listed below
            lines += [f"{name}: {gap}" for gap in gaps if gap not in in_file]
            lines += [
                f"{name}: overlapping recordings from {span_text(overlap)}" for overlap in door.overlaps
            ]
        lines += self.problems
        if self.already_scanned:
            lines.append(f"{duration(self.already_scanned)} of video already scanned")
        if self.seconds:
            lines.append(
                f"{duration(self.seconds)} of video scanned in {duration(self.elapsed)}, "
                f"{self.speed:.0f} times real time"
            )
        return lines


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
    dayfirst: bool | None = None,
    detector: Path | str | None = None,
    resume: bool = True,
) -> ScanSummary:
    """Find the minutes of videos in which somebody may have passed, and write an events folder.

    An interrupted scan resumes where it stopped, with the same result as an uninterrupted one. Videos scanned
    later into the same folder are added to it. When a scan finishes, it deletes what an interrupted scan of
    other videos left in the folder.

    Parameters
    ----------
    videos : sequence of Path
        Videos and folders of videos.
    out : Path
        The events folder: ``index.json``, and a contact sheet for each candidate minute.
    doors : mapping of str to str, optional
        Door names and the videos of each; see ``occupair.groundtruth.video.video_files.find_videos``.
    start : datetime, optional
        Start of the first video of each door, if names and containers do not contain it or are wrong.
    sensitivity : float
        Minutes with a score of at least 1 - sensitivity are candidates. A frame with a detected person
        scores 0.5 to 1, by the confidence of the detector; motion without a detected person scores up to
        0.45, more if it is larger and lasts longer. With 0.5 only detected people count, with 1 all motion.
        Recall and false positives of each setting are measured by ``python tools/scan_recall.py``.
    margin : float
        A passage this close to a minute boundary belongs to both minutes [s].
    rate : float
        Frames to analyse [1/s].
    timezone : str, optional
        Time zone of the room, if its clock changes or if names or containers have UTC times.
    dayfirst : bool, optional
        Whether dates such as 08-11-2026 in file names begin with the day; by default, the names of the other
        videos decide.
    detector : Path, optional
        Network for person detection, an ONNX file or Darknet weights; see
        ``occupair.groundtruth.video.network_detector``. By default, the HOG detector of OpenCV.
    resume : bool
        Whether to use earlier results for these videos in the folder; otherwise they are scanned again.

    Raises
    ------
    InputError
        If OpenCV is missing, a setting is invalid, a start time is unknown, another program scans into the
        folder, or no video can be read. Damaged videos are scanned as far as possible and listed in
        ``ScanSummary.problems``.
    """
    opencv()
    network = None if detector is None else Path(detector)
    settings = replace(
        _check_settings(sensitivity, margin, rate, timezone),
        detector=_network_id(network) if network else None,
    )
    zone, out = parse_time_zone(timezone), Path(out)
    found = find_videos(
        videos, doors=doors, start=start, zone=zone, dayfirst=dayfirst, length=declared_length
    )
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: must be a folder, got a file")
    store = ScanStore(out)
    store.create()
    began = time.monotonic()
    with store.lock():
        jobs = _jobs(found, store, out, settings, resume)
        _run_jobs(jobs, network)
        records = [job.record for job in jobs if job.record is not None]
        if all(record.recording.frames == 0 for record in records):
            raise InputError("; ".join(record.recording.problem or "no frames" for record in records))
        events = _write_events(out, store)
        store.tidy()
    return ScanSummary(
        events,
        sum(job.scanned - job.already_scanned for job in jobs),
        time.monotonic() - began,
        sum(job.already_scanned for job in jobs),
        tuple(record.recording.problem for record in records if record.recording.problem),
    )


def _network_id(path: Path) -> str:
    """Check a network for person detection, and return a hash of it."""
    NetworkDetector(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _check_settings(sensitivity: float, margin: float, rate: float, timezone: str | None) -> ScanSettings:
    if not 0 <= sensitivity <= 1:
        raise InputError(f"sensitivity must be 0 to 1, got {sensitivity}")
    if not 0 <= margin <= 30:
        raise InputError(f"margin must be 0 to 30 seconds, got {margin}")
    if not 0.5 <= rate <= 60:
        raise InputError(f"rate must be 0.5 to 60 frames per second, got {rate}")
    return ScanSettings(float(sensitivity), float(margin), float(rate), timezone)


def _jobs(
    found: Sequence[Video], store: ScanStore, out: Path, settings: ScanSettings, resume: bool
) -> list[ScanJob]:
    """Create a job for each video, and delete earlier results of videos to scan again or that changed."""
    keys = {store.key_of(video): video for video in found}
    jobs = []
    for key, video in keys.items():
        record = store.record(key) if resume else None
        if record is not None and record.settings != settings:
            record = None
        for old in store.superseded(key, video) - (keys.keys() - {key}):
            if old != key or record is None:
                _forget(store, old, out, keep_checkpoint=resume and old == key)
        before = record.recording.seconds if record else 0.0
        jobs.append(ScanJob(video, key, store, settings, record, before, before))
    return jobs


def _forget(store: ScanStore, key: str, out: Path, *, keep_checkpoint: bool) -> None:
    """Delete the results and contact sheets of a video; an interrupted scan can still be resumed."""
    record = store.record(key)
    if record is not None:
        for one in record.minutes:
            sheet_path(out, record.door, one.minute).unlink(missing_ok=True)
    if record is not None or not keep_checkpoint:
        store.forget(key)


def _run_jobs(jobs: Sequence[ScanJob], detector: Path | None) -> None:
    """Scan videos in parallel, one per core, and show the overall progress."""
    pending = [job for job in jobs if job.record is None]
    if not pending:
        return
    lengths = {job.key: declared_length(job.video.path) or 1.0 for job in pending}
    total = sum(lengths.values())

    def progress() -> float:
        done = (lengths[job.key] if job.record else min(job.scanned, lengths[job.key]) for job in pending)
        return sum(done) / total

    cores = os.cpu_count() or 1
    for job in pending:
        job.threads, job.detector = max(1, cores // len(pending)), detector
    with ThreadPoolExecutor(min(len(pending), cores)) as pool:
        running = [pool.submit(job.run) for job in pending]
        try:
            for step in track(range(1, _PROGRESS_STEPS + 1), "scanning"):
                _wait(running, lambda step=step: progress() >= step / _PROGRESS_STEPS)  # type: ignore[misc]
            _wait(running, lambda: False)  # videos may be longer than their containers declare
        finally:
            for job in pending:
                job.stop.set()
            for one in running:
                one.cancel()
    for one in running:
        one.result()


def _wait(running: Sequence[Future[None]], reached: Callable[[], bool]) -> None:
    """Wait until some progress is reached, all work is done, or a job fails."""
    while not reached():
        finished, unfinished = wait(running, timeout=0)
        for one in finished:
            one.result()
        if not unfinished:
            return
        wait(unfinished, timeout=0.1, return_when=FIRST_COMPLETED)


def _write_events(out: Path, store: ScanStore) -> Events:
    """Move the contact sheets to their final place, and write the index of all videos scanned so far."""
    records = store.records()
    scores: dict[tuple[str, datetime], float] = defaultdict(float)
    new_sheets: dict[tuple[str, datetime], list[Path]] = defaultdict(list)
    for record in records:
        for one in record.minutes:
            key = record.door, one.minute
            scores[key] = max(scores[key], one.score)
            sheet = store.sheet(record.key, one.number)
            new_sheets[key] += [sheet] if sheet.exists() else []
    for (door, minute), sheets in new_sheets.items():
        target = sheet_path(out, door, minute)
        if sheets:
            join_sheets([*([target] if target.exists() else []), *sheets], target)
            for sheet in sheets:
                sheet.unlink(missing_ok=True)
    doors = {
        door: recording_coverage([(one.recording, one.end) for one in records if one.door == door])
        for door in sorted({one.door for one in records})
    }
    covered = _covered_minutes(records)
    for key in scores.keys() - covered:
        sheet_path(out, *key).unlink(missing_ok=True)
    minutes = [
        CandidateMinute(door, minute, score, sheet_path(out, door, minute))
        for (door, minute), score in scores.items()
        if (door, minute) in covered
    ]
    events = Events(out, doors, sorted(minutes, key=lambda one: (one.minute, one.door)))
    write_events(events)
    return events


def _covered_minutes(records: Sequence[ScanRecord]) -> set[tuple[str, datetime]]:
    """Candidate minutes with video; the margin may reach beyond the recording."""
    return {
        (record.door, one.minute)
        for record in records
        for one in record.minutes
        if any(
            other.door == record.door
            and other.recording.start < one.minute + timedelta(minutes=1)
            and other.end > one.minute
            for other in records
        )
    }
