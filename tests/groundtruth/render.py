"""Rendered corridor videos for tests: a door, people walking through it, light, noise and shadows.

A figure is drawn once for each phase of its walk (head, hair, torso, arms, swinging legs, folds and shading),
then scaled and pasted over the corridor. It enters at the side of the image and disappears in the doorway, or
the reverse. Randomness is seeded.

    render(path, minutes=2, passages=[Passage(at=20.0, way="in"), Passage(at=70.0, way="out")])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import av
import cv2
import numpy as np
from groundtruth.mp4 import retime

WIDTH, HEIGHT = 640, 360
DOOR = (300, 92, 100, 212)  # left, top, width, height of the doorway [px]
WALL_FOOT = 304  # height at which wall and floor meet [px]
FOOT = WALL_FOOT + 34  # height of people's feet [px]
NOISES = 16  # noise images
PHASES = 12  # images per double step
SPRITE = (512, 256)  # height and width of a drawn figure [px]


@dataclass(frozen=True)
class Passage:
    """One person walking through the door, ``in`` or ``out``."""

    at: float  # time at half of the walk, close to the door [s]
    way: str = "in"
    height: int = 170  # of the person [px]
    seconds: float = 4.0  # how long the person is visible
    side: str = "left"  # side of the image the person comes from or leaves to
    look: int = 0  # seed of clothes and build
    faint: float = 0.0  # transparency of the person [0..1]
    hidden: float = 0.0  # fraction of the body hidden behind a trolley [0..1]
    approach: bool = False  # towards the camera, from the door, instead of along the wall
    above: bool = False  # head and shoulders from above, which the HOG detector does not detect


@dataclass(frozen=True)
class Scene:
    """Disturbances: light as a factor over time, sensor noise, a shadow, a swinging door leaf."""

    light: Callable[[float], float] = lambda second: 1.0
    lamp: Callable[[float], float] = lambda second: 0.0  # brightness of a lamp on the right
    noise: float = 2.0  # standard deviation [grey levels]
    shadow: Callable[[float], float | None] = lambda second: None  # position of its centre [px]
    leaf: Callable[[float], float] = lambda second: 0.0  # how far the door is closed [0..1]
    effects: tuple[Callable[[np.ndarray, float], np.ndarray], ...] = ()  # see ``groundtruth.distractors``
    clock: bool = True  # whether the time is shown in the image


def render(
    path: Path,
    *,
    minutes: float,
    passages: Sequence[Passage] = (),
    scene: Scene | None = None,
    fps: float = 5.0,
    seed: int = 0,
    codec: str = "mp4v",
    times: Sequence[float] | None = None,
) -> Path:
    """Write a video; with ``times`` [s], one of variable frame rate (MP4 only).

    ``codec`` is a four-character code of OpenCV, or an encoder of PyAV such as ``libx264``.
    """
    scene = scene or Scene()
    seconds = np.arange(round(minutes * 60 * fps)) / fps if times is None else times
    rng = np.random.default_rng(seed)
    pictures = (frame_at(float(second), passages, scene, rng) for second in seconds)
    if len(codec) == 4:
        _write_with_opencv(path, pictures, codec, fps)
    else:
        encode(path, pictures, codec, fps)
    if times is not None:
        retime(path, times)
    return path


def _write_with_opencv(path: Path, pictures: Iterable[np.ndarray], codec: str, fps: float) -> None:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), fps, (WIDTH, HEIGHT))
    assert writer.isOpened(), f"cannot write {path}"
    for picture in pictures:
        writer.write(picture)
    writer.release()


_SPEED = {
    "libx264": {"preset": "superfast"},
    "libx265": {"preset": "ultrafast", "x265-params": "log-level=none:pools=none:frame-threads=1"},
}
"""Options of encoders that are fast for small videos; threads of x265 mostly wait for each other there."""


def encode(
    path: Path, pictures: Iterable[np.ndarray], codec: str, fps: float, *, group: float = 2.0, **options: str
) -> None:
    """Write pictures in BGR as a video with a keyframe every ``group`` seconds."""
    speed = _SPEED.get(codec, {})
    with av.open(str(path), "w") as container:
        stream = None
        for picture in pictures:
            if stream is None:
                stream = container.add_stream(codec, rate=Fraction(fps).limit_denominator(1000))
                stream.height, stream.width = picture.shape[:2]
                stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
                stream.gop_size = round(group * fps)
                stream.options = speed | options
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "bgr24")))
        container.mux(stream.encode())


def frame_at(
    second: float, passages: Sequence[Passage], scene: Scene, rng: np.random.Generator
) -> np.ndarray:
    """Draw the camera image at one time, in BGR."""
    picture = _noisy_corridors(scene.noise)[rng.integers(NOISES)].copy()
    _shut(picture, scene.leaf(second))
    for passage in sorted(passages, key=lambda p: p.height):
        _walk(picture, passage, second)
    _cast(picture, scene.shadow(second))
    for effect in scene.effects:
        picture = effect(picture, second)
    picture = _lit(picture, scene.light(second), scene.lamp(second))
    if scene.clock:
        _stamp(picture, f"{int(second) // 60:02d}:{int(second) % 60:02d}", (8, 18))
    return picture


@cache
def corridor() -> np.ndarray:
    """Draw an empty corridor: wall, floor, skirting, a poster, and a doorway into a darker room."""
    rng = np.random.default_rng(1)
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    wall = 178 - 0.07 * np.abs(across - 250) - 0.05 * down
    floor = 122 + 0.12 * (down - WALL_FOOT) + 4 * np.sin(across / 31 + down / 17)
    grey = np.where(down < WALL_FOOT, wall, floor)
    grain = cv2.GaussianBlur(rng.normal(0, 1, (HEIGHT, WIDTH)).astype(np.float32), (0, 0), 3)
    grey += 3 * grain / grain.std()
    picture = np.stack([grey * 0.97, grey, grey * 1.02], axis=-1)
    left, top, width, height = DOOR
    picture[WALL_FOOT - 9 : WALL_FOOT] *= 0.8  # skirting
    picture[top - 9 : top + height, left - 9 : left + width + 9] *= 0.78  # frame
    inside = 96 - 0.14 * (down[top : top + height, left : left + width] - top)
    picture[top : top + height, left : left + width] = inside[..., None] * (1.0, 0.98, 0.94)
    cv2.rectangle(picture, (478, 110), (560, 190), (150.0, 176.0, 190.0), -1)
    cv2.circle(picture, (519, 146), 22, (120.0, 120.0, 170.0), -1)
    return np.clip(cv2.GaussianBlur(picture, (0, 0), 0.8), 0, 255).astype(np.uint8)


@lru_cache(maxsize=64)
def figure(look: int) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """BGR image and opacity [0..1] of one person in each phase of the walk."""
    rng = np.random.default_rng(1000 + look)
    dark = rng.random() < 0.7  # most people are darker than the wall
    coat = rng.uniform(25, 80, 3) if dark else rng.uniform(215, 245, 3)
    cloth = {
        "coat": coat,
        "trousers": rng.uniform(18, 65, 3),
        "skin": np.array([120, 150, 195]) * rng.uniform(0.5, 1.05),
        "hair": np.array([30, 38, 48]) * rng.uniform(0.5, 2.0),
        "shoes": np.full(3, 28.0),
        "build": rng.uniform(0.92, 1.1),
    }
    return tuple(_draw(2 * np.pi * k / PHASES, cloth, rng) for k in range(PHASES))


def _draw(phase: float, cloth: dict, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw a person from the front or the back, in mid step."""
    height, width = SPRITE
    colour = np.zeros((height, width, 3), np.float32)
    cover = np.zeros((height, width), np.uint8)
    middle, build, swing = width / 2, cloth["build"], np.sin(phase)

    def limb(points, thick, paint):
        for (x0, y0), (x1, y1), t0, t1 in zip(points, points[1:], thick, thick[1:], strict=False):
            for share in np.linspace(0, 1, 24):
                centre = (round(x0 + share * (x1 - x0)), round(y0 + share * (y1 - y0)))
                radius = round(t0 + share * (t1 - t0))
                cv2.circle(colour, centre, radius, paint.tolist(), -1)
                cv2.circle(cover, centre, radius, 255, -1)

    def shape(points, paint):
        corners = np.round(points).astype(np.int32)
        cv2.fillPoly(colour, [corners], paint.tolist())
        cv2.fillPoly(cover, [corners], 255)

    hip, lift = 262, 10 * abs(np.cos(phase))
    for side in (-1, 1):  # legs: one forward (longer, lower), one back (shorter)
        reach = side * swing
        x = middle + side * 20 * build
        knee = (x + side * 6 + 5 * reach, hip + 105 - 10 * max(0, -reach))
        foot = (x + side * (10 + 8 * abs(swing)), hip + 212 - 26 * max(0, -reach) - lift * 0.3)
        limb([(x, hip), knee, foot], (27 * build, 21, 15), cloth["trousers"])
        limb([foot, (foot[0] + side * 5, foot[1] + 12)], (14, 14), cloth["shoes"])
    shoulder = 60 * build
    for side in (-1, 1):  # arms, slightly apart from the body
        reach = -side * swing
        elbow = (middle + side * (shoulder + 9), 196 - 8 * max(0, reach))
        hand = (middle + side * (shoulder + 6 - 7 * max(0, reach)), 266 - 26 * max(0, reach))
        limb([(middle + side * (shoulder - 6), 118), elbow, hand], (18, 15, 12), cloth["coat"] * 0.9)
        limb([hand, (hand[0], hand[1] + 8)], (11, 10), cloth["skin"])
    body = [(-20, 88), (20, 88), (48, 98), (62, 116), (52, 190), (46, 240), (50, 284)]
    right = [(middle + x * build, y) for x, y in body[1:]]
    left = [(middle - x * build, y) for x, y in reversed(body[1:])]
    shape([*right, *left], cloth["coat"])
    limb([(middle, 92), (middle, 76)], (15, 14), cloth["skin"])
    cv2.ellipse(colour, (round(middle), 48), (27, 35), 0, 0, 360, cloth["skin"].tolist(), -1)
    cv2.ellipse(cover, (round(middle), 48), (27, 35), 0, 0, 360, 255, -1)
    cv2.ellipse(colour, (round(middle), 40), (29, 31), 0, 180, 360, cloth["hair"].tolist(), -1)
    cv2.ellipse(cover, (round(middle), 40), (29, 31), 0, 180, 360, 255, -1)
    cv2.line(colour, (round(middle), 98), (round(middle), 280), (cloth["coat"] * 0.7).tolist(), 3)
    return _shade(colour, cover, rng)


def _shade(colour: np.ndarray, cover: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Add folds, light from above, and soft edges."""
    folds = cv2.GaussianBlur(rng.normal(0, 1, cover.shape).astype(np.float32), (0, 0), sigmaX=4, sigmaY=14)
    across = np.linspace(-1, 1, cover.shape[1], dtype=np.float32)
    down = np.linspace(1.1, 0.85, cover.shape[0], dtype=np.float32)[:, None]
    colour *= ((1 + 0.08 * folds / folds.std()) * (1.06 - 0.1 * across**2) * down)[..., None]
    return np.clip(cv2.GaussianBlur(colour, (0, 0), 1.2), 0, 255), (
        cv2.GaussianBlur(cover, (0, 0), 1.5).astype(np.float32) / 255
    )


@lru_cache(maxsize=4096)
def _scaled(look: int, phase: int, height: int, above: bool) -> tuple[np.ndarray, np.ndarray]:
    colour, cover = figure(look)[phase]
    if above:
        colour, cover = _from_above(colour)
    size = (round(SPRITE[1] * height / SPRITE[0]), height)
    return (
        cv2.resize(colour, size, interpolation=cv2.INTER_AREA),
        cv2.resize(cover, size, interpolation=cv2.INTER_AREA)[..., None],
    )


def _from_above(colour: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Head and shoulders in the colours of a person."""
    picture, cover = np.zeros((*SPRITE, 3), np.float32), np.zeros(SPRITE, np.uint8)
    coat, hair = colour[160, 128].tolist(), colour[25, 128].tolist()
    for centre, axes, paint in (((128, 330), (110, 62), coat), ((128, 326), (44, 52), hair)):
        cv2.ellipse(picture, centre, axes, 0, 0, 360, paint, -1)
        cv2.ellipse(cover, centre, axes, 0, 0, 360, 255, -1)
    return picture, cover.astype(np.float32) / 255


def place(passage: Passage, second: float) -> tuple[float, int] | None:
    """Centre of a person [px from the left] and height [px]; None if not visible."""
    share = (second - passage.at) / passage.seconds + 0.5
    if not 0 <= share <= 1:
        return None
    walked = share if passage.way == "in" else 1 - share
    if passage.approach:
        return DOOR[0] + DOOR[2] / 2 + 60 * walked, round(passage.height * (0.5 + 1.0 * walked))
    outside = -60.0 if passage.side == "left" else WIDTH + 60.0
    goal = DOOR[0] + DOOR[2] / 2
    along = min(walked / 0.8, 1.0)  # the last fifth of the walk is through the doorway
    height = passage.height * (1 - 0.18 * max(0.0, (walked - 0.8) / 0.2))
    return outside + along * (goal - outside), round(height)


def _walk(picture: np.ndarray, passage: Passage, second: float) -> None:
    where = place(passage, second)
    if where is None:
        return
    middle, height = where
    phase = int(second * 1.0 * PHASES) % PHASES
    colour, cover = _scaled(passage.look, phase, height, passage.above)
    beyond = (
        0.0 if passage.approach else (passage.height - height) / (0.18 * passage.height)
    )  # 0 in the doorway, 1 inside the room
    foot = FOOT - round(30 * beyond)
    if passage.approach:
        foot = FOOT + height - passage.height
    top, left = foot - height, round(middle - colour.shape[1] / 2)
    bounds = (0, WIDTH) if beyond <= 0 else (DOOR[0], DOOR[0] + DOOR[2])
    x0, x1 = max(left, bounds[0]), min(left + colour.shape[1], bounds[1])
    y0, y1 = max(top, 0), min(foot, HEIGHT)
    if x0 >= x1 or y0 >= y1:
        return
    part = np.s_[y0 - top : y1 - top, x0 - left : x1 - left]
    fade = cover[part] * (1 - max(0.0, beyond - 0.7) / 0.3) * (1 - passage.faint)
    under = picture[y0:y1, x0:x1]
    under[:] = (under * (1 - fade) + colour[part] * (1 - 0.3 * beyond) * fade).astype(np.uint8)
    if passage.hidden and beyond <= 0:
        high, wide = round(height * passage.hidden), round(height * 0.3)
        corners = (round(middle) - wide, foot - high), (round(middle) + wide, foot)
        cv2.rectangle(picture, *corners, (120, 140, 150), -1)


def _shut(picture: np.ndarray, shut: float) -> None:
    """Draw the door leaf over the doorway."""
    left, top, width, height = DOOR
    if shut > 0:
        picture[top : top + height, left : left + round(width * shut)] = (96, 128, 150)


def _cast(picture: np.ndarray, middle: float | None) -> None:
    """Draw a soft shadow on wall and floor."""
    if middle is not None:
        across = np.arange(WIDTH, dtype=np.float32) - middle
        picture[:] = (picture * (1 - 0.25 * np.exp(-((across / 60) ** 2)))[None, :, None]).astype(np.uint8)


def _lit(picture: np.ndarray, light: float, lamp: float) -> np.ndarray:
    if lamp:
        picture = np.clip(picture * (1 + lamp * _beam()), 0, 255).astype(np.uint8)
    return picture if light == 1.0 else cv2.convertScaleAbs(picture, alpha=light)


@cache
def _beam() -> np.ndarray:
    """Light distribution of the lamp."""
    down, across = np.mgrid[0:HEIGHT, 0:WIDTH]
    return np.exp(-(((across - 520) / 150) ** 2) - ((down - 120) / 110) ** 2)[..., None]


@cache
def _noisy_corridors(noise: float) -> list[np.ndarray]:
    """Several images of the empty corridor with sensor noise, to choose from at random."""
    rng = np.random.default_rng(2)
    return [
        np.clip(np.round(corridor() + rng.normal(0, noise, corridor().shape)), 0, 255).astype(np.uint8)
        for _ in range(NOISES)
    ]


def _stamp(picture: np.ndarray, text: str, where: tuple[int, int]) -> None:
    cv2.putText(picture, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
