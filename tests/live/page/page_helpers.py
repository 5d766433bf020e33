"""Parts of the live page, and a room of the building."""

ROOM = "room-1"  # "Workshop 0.02", quality ok, with labels
GERMAN = {"locale": "de-DE"}


def tile(page, room):
    return page.locator(f'.tile[data-room="{room}"]')


def wait_for_chart(page):
    """Wait for the chart, and return the number of its estimates."""
    page.wait_for_selector(".plot[data-drawn]")
    return int(page.locator("div.plot").get_attribute("data-drawn"))
