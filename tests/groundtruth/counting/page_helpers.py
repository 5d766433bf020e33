"""Expectations of the counting page: the minute and counts that it shows, and those that it stored."""

import re

from playwright.sync_api import expect

from occupair.groundtruth.counting.counts import read_counts

PLACES = ["north08:31", "south08:31", "north09:02", "south10:15", "north11:40"]


def expect_minute(page, number):
    door, time = PLACES[number][:-5], PLACES[number][-5:]
    expect(page.locator("#minute h1")).to_have_text(re.compile(rf"{door}\s+{time}"))


def expect_counts(page, entered, left, state=None):
    expect(page.locator("#entered")).to_have_text(str(entered))
    expect(page.locator("#left")).to_have_text(str(left))
    if state is not None:
        expect(page.locator("#state")).to_have_text(state)


def stored_counts(folder):
    return [(count.entered, count.left, count.state) for count in read_counts(folder)]


def expect_picture(page):
    image = page.locator("#sheet img")
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", 960)
