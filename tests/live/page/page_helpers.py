"""Parts of the live page, a room of the building, and a plan of a floor."""

from live.waiting import wait_for

from occupair.live.demo_floors import floor_plan

ROOM = "room-1"  # "Workshop 0.02", 20 seats, quality ok, with labels
GERMAN = {"locale": "de-DE"}
PLAN = floor_plan(["lab", "office", "seminar"])


def tile(page, room):
    return page.locator(f'.tile[data-room="{room}"]')


def wait_for_chart(page):
    """Wait for the chart, and return the number of its estimates."""
    page.wait_for_selector(".plot[data-drawn]")
    return int(page.locator("div.plot").get_attribute("data-drawn"))


def cell(page, day, hour):
    return page.locator(f'td[data-key="{day}/{hour}"]')


def wait_for_plan(page, width=None):
    """Wait until the image is shown, with a width in pixels if given."""
    image = page.locator(".plan-image")

    def is_shown():  # the page's policy forbids wait_for_function
        shown = image.evaluate("one => one.naturalWidth")
        return shown > 0 and width in (None, shown)

    wait_for(is_shown)
