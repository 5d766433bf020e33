"""Print what 'occupair groundtruth scan' finds and lets through on rendered videos, as Markdown.

python tools/scan_recall.py        # some four minutes on two cores, most of it rendering
python tools/scan_recall.py 30     # 30 minutes of video for each scene instead of 10
python tools/scan_recall.py --h264 # videos as most cameras write them; needs ffmpeg
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from groundtruth.render import Passage, Scene, render

from occupair.groundtruth.video.scan import MARGIN, SENSITIVITY, ScanSummary, scan_videos

START = datetime(2024, 1, 8, 8)
SENSITIVITIES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
LONG_ENOUGH = 0.5  # for so long a person must be seen in a minute, for the minute to be one to find [s]
FPS = 8.0
H264 = (
    "-c:v",
    "libx264",
    "-crf",
    "28",
    "-g",
    "50",
    "-pix_fmt",
    "yuv420p",
)  # as small as a recorder makes them


def people(minutes: int, seed: int, **like: object) -> list[Passage]:
    """Somebody passes in half of the minutes, at any moment of it."""
    rng = np.random.default_rng(seed)
    return [
        replace(
            Passage(
                at=60 * minute + rng.uniform(3, 57),
                way=rng.choice(["in", "out"]),
                side=rng.choice(["left", "right"]),
                height=int(rng.integers(100, 200)),
                seconds=rng.uniform(2.5, 6),
                look=int(rng.integers(0, 40)),
            ),
            **like,
        )
        for minute in range(minutes)
        if rng.random() < 0.5
    ]


def daylight(second: float) -> float:
    return 0.75 + 0.25 * np.sin(second / 90)


def switches(second: float) -> float:
    return 1.0 if int(second / 47) % 2 else 0.5


def shadow(second: float) -> float | None:
    return 130 * (second % 60 - 20) if 20 <= second % 60 < 26 and int(second / 60) % 2 else None


def leaf(second: float) -> float:
    return min(1.0, max(0.0, second % 60 - 30)) * 0.9 if int(second / 60) % 3 == 1 else 0.0


SCENES: dict[str, tuple[dict, Scene]] = {
    "people": ({}, Scene()),
    "people, small (60 to 80 px)": ({"height": 70}, Scene()),
    "people, quick (1.2 s)": ({"seconds": 1.2}, Scene()),
    "people, faint": ({"faint": 0.6}, Scene()),
    "people, hardly to be seen": ({"faint": 0.8}, Scene()),
    "people behind trolleys": ({"hidden": 0.6}, Scene()),
    "people from above": ({"above": True}, Scene()),
    "people, light switched every 47 s": ({}, Scene(light=switches)),
    "people, light that drifts": ({}, Scene(light=daylight)),
    "people in the dark, noise": ({}, Scene(light=lambda _: 0.3, noise=8.0)),
    "nobody": (None, Scene()),
    "nobody, light switched every 47 s": (None, Scene(light=switches)),
    "nobody, light that drifts": (None, Scene(light=daylight)),
    "nobody, a lamp switched every 29 s": (None, Scene(lamp=lambda second: float(int(second / 29) % 2))),
    "nobody, noise": (None, Scene(noise=8.0)),
    "nobody, a shadow in half of the minutes": (None, Scene(shadow=shadow)),
    "nobody, a door in a third of the minutes": (None, Scene(leaf=leaf)),
}


def main() -> None:
    numbers = [int(text) for text in sys.argv[1:] if text != "--h264"]
    minutes, as_h264 = numbers[0] if numbers else 10, "--h264" in sys.argv
    rows, counts, times = [], np.zeros((len(SENSITIVITIES), 4)), np.zeros(2)
    for seed, (name, (like, scene)) in enumerate(
        track(SCENES.items(), description="scenes", console=Console(stderr=True))
    ):
        passages = [] if like is None else people(minutes, seed, **like)
        found = measure(minutes, passages, scene, seed, as_h264=as_h264)
        scores = {one.minute: one.score for one in found.events.minutes}
        present, empty = truth(minutes, passages)
        kept = [count(scores, 1 - sensitivity) for sensitivity in SENSITIVITIES]
        counts += [[len(present & k), len(present), len(empty & k), len(empty)] for k in kept]
        usual = count(scores, 1 - SENSITIVITY)
        rows.append((name, len(present & usual), len(present), len(empty & usual), len(empty), found.speed))
        times += found.seconds, found.elapsed
    print(f"| scene, at sensitivity {SENSITIVITY} | found | let through of empty minutes | times real time |")
    print("| --- " * 4 + "|")
    for name, hit, present_count, wrong, empty_count, factor in rows:
        print(f"| {name} | {share(hit, present_count)} | {share(wrong, empty_count)} | {factor:.0f} |")
    print(f"\n| sensitivity | minutes with passages found | empty minutes let through |\n{'| --- ' * 3}|")
    for sensitivity, (hit, present_count, wrong, empty_count) in zip(SENSITIVITIES, counts, strict=True):
        print(f"| {sensitivity} | {share(hit, present_count)} | {share(wrong, empty_count)} |")
    seconds, elapsed = times
    print(
        f"\n{seconds / 60:.0f} minutes of video in {elapsed:.0f} s: {seconds / elapsed:.0f} times real time"
    )


def measure(
    minutes: int, passages: Sequence[Passage], scene: Scene, seed: int, *, as_h264: bool = False
) -> ScanSummary:
    """Scan once at full sensitivity: what a lower one keeps is what scores high enough."""
    with tempfile.TemporaryDirectory() as folder:
        video = Path(folder) / f"door_{START:%Y%m%d_%H%M%S}.mp4"
        render(video, minutes=minutes, passages=passages, scene=scene, fps=FPS, seed=seed)
        if as_h264:
            rendered = video.rename(Path(folder) / "rendered.mp4")
            subprocess.run(["ffmpeg", "-v", "error", "-i", rendered, *H264, video], check=True)
        return scan_videos([video], Path(folder) / "events", sensitivity=1.0)


def truth(minutes: int, passages: Sequence[Passage]) -> tuple[set[datetime], set[datetime]]:
    """Minutes in which somebody is to be seen for a while, and those in which nobody is."""
    present, maybe = set(), set()
    for passage in passages:
        begin, end = passage.at - passage.seconds / 2, passage.at + passage.seconds / 2
        for minute in range(minutes):
            if min(end, 60 * minute + 60) - max(begin, 60 * minute) >= min(LONG_ENOUGH, passage.seconds / 2):
                present.add(START + timedelta(minutes=minute))
            if begin - MARGIN <= 60 * minute + 60 and end + MARGIN >= 60 * minute:
                maybe.add(START + timedelta(minutes=minute))
    every = {START + timedelta(minutes=minute) for minute in range(minutes)}
    return present, every - maybe


def count(scores: dict[datetime, float], least: float) -> set[datetime]:
    return {minute for minute, score in scores.items() if score >= least - 1e-9}


def share(part: float, whole: float) -> str:
    return f"{part:.0f} of {whole:.0f} ({part / whole:.0%})" if whole else "-"


if __name__ == "__main__":
    main()
