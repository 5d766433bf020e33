"""Recall and false positives of the video scan on rendered videos, as Markdown.

python tools/scan_recall.py                     # ten minutes of video per scene
python tools/scan_recall.py 4                   # four minutes
python tools/scan_recall.py --seed 100          # other people, and other distractors
python tools/scan_recall.py --codec libx264     # H.264 videos, as most cameras write them
python tools/scan_recall.py --detector F.onnx   # with a network as person detector
"""

import argparse
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
from groundtruth.distractors import DISTRACTORS
from groundtruth.render import Passage, Scene, render

from occupair.groundtruth.video.scan import MARGIN, SENSITIVITY, ScanSummary, scan_videos

START = datetime(2024, 1, 8, 8)
SENSITIVITIES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
MIN_VISIBLE = 0.5  # a minute has a passage if a person is visible in it for this long [s]
FPS = 5.0


def random_passages(minutes: int, seed: int, **changes: object) -> list[Passage]:
    """One passage in every other minute, at a random time."""
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
            **changes,
        )
        for minute in range(0, minutes, 2)
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
    "people, very faint": ({"faint": 0.8}, Scene()),
    "people behind trolleys": ({"hidden": 0.6}, Scene()),
    "people from above": ({"above": True}, Scene()),
    "people, light switched every 47 s": ({}, Scene(light=switches)),
    "people, drifting light": ({}, Scene(light=daylight)),
    "people, slow (14 s)": ({"seconds": 14.0}, Scene()),
    "people who approach": ({"approach": True, "height": 150}, Scene()),
    "people in dim light, with noise": ({}, Scene(light=lambda _: 0.3, noise=8.0)),
    "nobody": (None, Scene()),
    "nobody, light switched every 47 s": (None, Scene(light=switches)),
    "nobody, drifting light": (None, Scene(light=daylight)),
    "nobody, a lamp switched every 29 s": (None, Scene(lamp=lambda second: float(int(second / 29) % 2))),
    "nobody, noise": (None, Scene(noise=8.0)),
    "nobody, a shadow in half of the minutes": (None, Scene(shadow=shadow)),
    "nobody, a door in a third of the minutes": (None, Scene(leaf=leaf)),
}


def scenes(seed: int) -> dict[str, tuple[dict | None, Scene]]:
    """All scenes: those above, and distractors with and without people, drawn from the seed."""
    effects = {name: (distractor(seed),) for name, distractor in DISTRACTORS.items()}
    return (
        SCENES
        | {f"nobody, {name}": (None, Scene(effects=effect)) for name, effect in effects.items()}
        | {f"people, {name}": ({}, Scene(effects=effect)) for name, effect in effects.items()}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("minutes", nargs="?", type=int, default=10, help="minutes of video per scene")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--codec", default="mp4v", help="four-character code, or an encoder such as libx264")
    parser.add_argument("--detector", type=Path, help="network for person detection")
    options = parser.parse_args()
    minutes = options.minutes
    results, counts, times = [], np.zeros((len(SENSITIVITIES), 4)), np.zeros(2)
    for seed, (name, (changes, scene)) in enumerate(
        track(scenes(options.seed).items(), description="scenes", console=Console(stderr=True)), options.seed
    ):
        passages = [] if changes is None else random_passages(minutes, seed, **changes)
        found = measure(minutes, passages, scene, seed, codec=options.codec, detector=options.detector)
        scores = {one.minute: one.score for one in found.events.minutes}
        present, empty = true_minutes(minutes, passages)
        if passages and scene.effects:
            empty = set()  # the distractor moves in these, too
        found_minutes = [select(scores, 1 - sensitivity) for sensitivity in SENSITIVITIES]
        counts += [[len(present & k), len(present), len(empty & k), len(empty)] for k in found_minutes]
        default = select(scores, 1 - SENSITIVITY)
        results.append(
            (name, len(present & default), len(present), len(empty & default), len(empty), found.speed)
        )
        times += found.seconds, found.elapsed
    print(
        f"| scene, at sensitivity {SENSITIVITY} | minutes with passages: found | empty minutes: kept "
        "| times real time |"
    )
    print("| --- " * 4 + "|")
    for name, hit, present_count, wrong, empty_count, factor in results:
        print(f"| {name} | {share(hit, present_count)} | {share(wrong, empty_count)} | {factor:.0f} |")
    print(f"\n| sensitivity | minutes with passages: found | empty minutes: kept |\n{'| --- ' * 3}|")
    for sensitivity, (hit, present_count, wrong, empty_count) in zip(SENSITIVITIES, counts, strict=True):
        print(f"| {sensitivity} | {share(hit, present_count)} | {share(wrong, empty_count)} |")
    seconds, elapsed = times
    print(
        f"\n{seconds / 60:.0f} minutes of video in {elapsed:.0f} s: {seconds / elapsed:.0f} times real time"
    )


def measure(
    minutes: int,
    passages: Sequence[Passage],
    scene: Scene,
    seed: int,
    *,
    codec: str = "mp4v",
    detector: Path | None = None,
) -> ScanSummary:
    """Scan once at full sensitivity; lower sensitivities are a threshold on the scores."""
    with tempfile.TemporaryDirectory() as folder:
        video = Path(folder) / f"door_{START:%Y%m%d_%H%M%S}.mp4"
        render(video, minutes=minutes, passages=passages, scene=scene, fps=FPS, seed=seed, codec=codec)
        return scan_videos([video], Path(folder) / "events", sensitivity=1.0, detector=detector)


def true_minutes(minutes: int, passages: Sequence[Passage]) -> tuple[set[datetime], set[datetime]]:
    """Minutes with a visible person, and minutes without anybody even within the margin."""
    present, maybe = set(), set()
    for passage in passages:
        begin, end = passage.at - passage.seconds / 2, passage.at + passage.seconds / 2
        for minute in range(minutes):
            if min(end, 60 * minute + 60) - max(begin, 60 * minute) >= min(MIN_VISIBLE, passage.seconds / 2):
                present.add(START + timedelta(minutes=minute))
            if begin - MARGIN <= 60 * minute + 60 and end + MARGIN >= 60 * minute:
                maybe.add(START + timedelta(minutes=minute))
    every = {START + timedelta(minutes=minute) for minute in range(minutes)}
    return present, every - maybe


def select(scores: dict[datetime, float], least: float) -> set[datetime]:
    return {minute for minute, score in scores.items() if score >= least - 1e-9}


def share(part: float, whole: float) -> str:
    return f"{part:.0f} of {whole:.0f} ({part / whole:.0%})" if whole else "-"


if __name__ == "__main__":
    main()
