"""Shared fixtures: a building of simulated rooms, its server, and its page in a browser."""

from contextlib import ExitStack

import pytest
from live.page.page_helpers import PLAN, ROOM
from live.page_server import Building, make_rooms, serve

from occupair.live.store import Place

BROWSER_ZONE = "America/New_York"  # the rooms are in Copenhagen
PLACES = {0: (0.34, 0.28), 1: (0.75, 0.28), 2: (0.68, 0.8), 3: (0.32, 0.62)}


@pytest.fixture(scope="module")
def number_of_rooms():
    """Size of the building; modules may have another."""
    return 60


@pytest.fixture(scope="module")
def served(number_of_rooms):
    """A building and its address, for all tests of the module."""
    building = Building(make_rooms(number_of_rooms))
    with serve(building) as url:
        yield building, url


@pytest.fixture
def building(served):
    """The building in its initial state."""
    served[0].reset()
    served[0].add_model_and_labels(ROOM)
    return served[0]


@pytest.fixture
def url(building, served):
    return served[1]


@pytest.fixture
def with_plan(building):
    """The building with a plan of its ground floor, and four of its eight rooms there."""
    building.store.set_plan("Ground floor", PLAN, media_type="image/svg+xml", width=960, height=480)
    for number, place in PLACES.items():
        building.store.set_place(f"room-{number}", Place(*place))
    return building


@pytest.fixture
def serve_building():
    """Serve other buildings until the end of the test."""
    with ExitStack() as stack:
        yield lambda building: stack.enter_context(serve(building))


@pytest.fixture
def open_live(serve_building, open_page):
    """Open the page in a browser in another time zone."""

    def open_live(url, *, rejected=(), lost=False, **settings):
        known = (*(f"status of {status}" for status in rejected), *(["net::ERR"] if lost else []))
        return open_page(url, known=known, **{"timezone_id": BROWSER_ZONE, **settings})

    return open_live
