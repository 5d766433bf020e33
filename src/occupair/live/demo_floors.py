"""Floor plans of the demo, drawn from the outlines of its rooms."""

from __future__ import annotations

from typing import NamedTuple

from occupair.live.store import Place, Store
from occupair.web.images import SVG, check_image

WIDTH, HEIGHT = 960, 480
"""Size of a plan; the walls are 5 wide."""
_SHARED = ((20, 20, 130, 150), (20, 170, 130, 80), (20, 310, 130, 150))
_SIGNS = (  # stairs, a lift and toilets
    "".join(f"M20 {y}h130" for y in range(38, 170, 18)) + "M85 20v150",
    "M20 170l130 80M150 170l-130 80",
    "M20 385h130M85 310v150",
)


class Outline(NamedTuple):
    """Rectangle of a room on its plan: left, top, width and height."""

    x: int
    y: int
    width: int
    height: int


OUTLINES = {
    "library": Outline(380, 20, 560, 440),
    "meeting-1": Outline(150, 20, 330, 230),
    "studio": Outline(480, 20, 460, 440),
    "lab": Outline(150, 20, 350, 230),
    "office": Outline(500, 20, 440, 230),
    "seminar": Outline(380, 310, 560, 150),
}
"""Outline of each room of the demo; the rest of a floor is corridor."""


def floor_plan(rooms: list[str]) -> bytes:
    """Draw the plan of a floor with some rooms, as SVG."""
    walls = [_rectangle(*outline, "#fff") for room in rooms for outline in [OUTLINES[room]]]
    doors = [_door(OUTLINES[room]) for room in rooms]
    signs = [_line(sign) for sign in _SIGNS]
    shared = [_rectangle(*outline, "#e4e9e7") for outline in _SHARED]
    floor = _rectangle(20, 20, WIDTH - 40, HEIGHT - 40, "#f1f4f2")
    drawing = "".join([floor, *shared, *signs, *walls, *doors])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{drawing}</svg>'.encode()


def add_floors(store: Store, floors: dict[str, list[str]]) -> None:
    """Store the plan of each floor, and place its rooms in the middle of their outlines."""
    for floor, rooms in floors.items():
        data = floor_plan(rooms)
        image = check_image(data, SVG)
        store.set_plan(floor, data, media_type=SVG, width=image.width, height=image.height)
        for room in rooms:
            x, y, width, height = OUTLINES[room]
            store.set_place(room, Place((x + width / 2) / WIDTH, (y + height / 2) / HEIGHT))


def _rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="#2b3a36"'
        ' stroke-width="5"/>'
    )


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#8b9893" stroke-width="2"/>'


def _door(outline: Outline) -> str:
    """Draw a door in the wall to the corridor: a gap, and the arc that the door describes."""
    x, y, width, height = outline
    if height > 300:  # from the top to the bottom: its door is on the left
        gap, arc = f"M{x} 330v50", f"M{x} 330h50a50 50 0 0 1 -50 50"
    elif y < HEIGHT / 2:
        left, wall = x + width - 100, y + height
        gap, arc = f"M{left} {wall}h50", f"M{left} {wall}v-50a50 50 0 0 1 50 50"
    else:
        left = x + 50
        gap, arc = f"M{left} {y}h50", f"M{left} {y}v50a50 50 0 0 0 50 -50"
    return f'<path d="{gap}" stroke="#fff" stroke-width="7"/>{_line(arc)}'
