"""A real browser for tests, Debian's Chromium: where it is, and pages in it that may not complain."""

from __future__ import annotations

import shutil

import pytest

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


def why_no_chromium() -> str | None:
    """Say why no Chromium can be had here; None if it can."""
    how = "Debian has it: apt install chromium"
    return None if shutil.which("chromium") else f"Chromium is not installed: no chromium on the PATH ({how})"


@pytest.fixture(scope="session")
def chromium():
    """The program; a test that needs it is left out, and says why, where there is none."""
    reason = why_no_chromium()
    if reason is not None:
        pytest.skip(reason)
    return shutil.which("chromium")


@pytest.fixture(scope="module")  # its event loop would be in the way of others
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Open pages that may not complain but of what is known, nor ask anybody but their own server."""
    opened = []

    def open_page(url, *, known=(), **settings):
        context = browser.new_context(**{**DESKTOP, "reduced_motion": "reduce", **settings})
        page = context.new_page()
        page.set_default_timeout(8_000)
        complaints, elsewhere, home = [], [], (url.split("/#")[0], "data:")
        page.on(
            "console",
            lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(home) else elsewhere.append(asked.url))
        opened.append((context, complaints, elsewhere, known))
        page.goto(url)
        return page

    yield open_page
    for context, complaints, elsewhere, known in opened:
        context.close()
        assert [text for text in complaints if not any(part in text for part in known)] == []
        assert elsewhere == []
