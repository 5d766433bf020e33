"""Browser tests with Debian's Chromium: one browser per module, and pages that fail on console errors."""

from __future__ import annotations

import contextlib
import json

import pytest

from tools.chromium import find_chromium, launch

DESKTOP = {"viewport": {"width": 1280, "height": 860}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
TIMEOUT = 90_000  # generous, for slow and busy machines [ms]


SMALL = """() => [...document.querySelectorAll('a, button, input:not([type=checkbox]), select, summary')]
    .filter((node) => node.checkVisibility() && !node.matches('.skip, .hidden'))
    .map((node) => [node.outerHTML.slice(0, 80), node.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.width < 44 || box.height < 44)).map(([html]) => html)"""
"""Script that returns the touch targets below 44 px, as HTML."""


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.2, relative luminance


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def why_no_chromium() -> str | None:
    """Return why Chromium is not available; None if it is."""
    how = "on Debian: apt install chromium-headless-shell"
    return None if find_chromium() else f"Chromium is not installed: not on the PATH ({how})"


@pytest.fixture(scope="session")
def chromium():
    """Path of Chromium; tests that need it are skipped if it is not installed."""
    reason = why_no_chromium()
    if reason is not None:
        pytest.skip(reason)
    return find_chromium()


@pytest.fixture(scope="module")  # not per session: its event loop would disturb other modules
def browser(chromium):
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=TIMEOUT)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def contexts(browser):
    """Browser contexts by settings. Tests of a module share them, and with them the HTTP cache."""
    return {}


@pytest.fixture
def open_page(browser, contexts):
    """Open pages that may not log errors, except known ones, nor send requests to another server."""
    opened = []

    def open_page(url, *, known=(), **settings):
        settings = {**DESKTOP, "locale": "en-GB", "reduced_motion": "reduce", **settings}
        key = json.dumps(settings, sort_keys=True)
        context = contexts.get(key) or contexts.setdefault(key, browser.new_context(**settings))
        page = context.new_page()
        page.set_default_timeout(TIMEOUT)
        errors, foreign, own = [], [], (url.split("/#")[0], "data:")
        page.on(
            "console",
            lambda message: errors.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith(own) else foreign.append(sent.url))
        opened.append((page, errors, foreign, known))
        page.goto(url)
        return page

    yield open_page
    for page, errors, foreign, known in opened:
        if not page.is_closed():
            with contextlib.suppress(Exception):  # a page without an origin has no storage
                page.evaluate("localStorage.clear()")
            page.close()
        page.context.clear_cookies()
        assert [text for text in errors if not any(part in text for part in known)] == []
        assert foreign == []
