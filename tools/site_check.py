"""Check the built documentation site in Chromium, opened from its files: ``make docs-test``.

Each page is opened at phone and desktop width, light and dark. None may request anything from a network, log
an error, scroll sideways, cut off text, or have a picture that does not load; and the search box must find
pages.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tools.chromium import MISSING, find_chromium, launch

SITE = Path("build/docs")
VIEWS = [
    {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    for width, height in ((390, 844), (1280, 900))
    for scheme in ("light", "dark")
]
SEARCHES = {
    "ventilation": "ventilation.html",
    "tolerance_accuracy": "occupair.metrics.tolerance_accuracy.html",
}
"""What is searched for, and the address of a page that must be among the results."""
TIMEOUT = 90_000  # generous, for slow and busy machines [ms]
BROKEN = "() => [...document.images].filter((one) => one.complete && !one.naturalWidth).map((one) => one.src)"
CUT_OFF = """() => [...document.querySelectorAll(".bd-article :is(h1, h2, h3, h4, dt, p, li), .page-toc a")]
    .filter((one) => one.checkVisibility() && !one.closest("table, pre"))
    .filter((one) => one.scrollWidth > Math.max(one.clientWidth, one.getBoundingClientRect().width) + 1 ||
        one.getBoundingClientRect().right > window.innerWidth)
    .map((one) => one.textContent.trim().slice(0, 60))"""
WIDTHS = "() => [document.documentElement.scrollWidth, window.innerWidth]"
BRIGHTNESS = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"


def main() -> None:
    if find_chromium() is None:
        sys.exit(f"site_check: {MISSING}")
    if not (SITE / "index.html").is_file():
        sys.exit("site_check: needs the built site (make docs)")
    pages = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    expect.set_options(timeout=TIMEOUT)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        problems = [*check_pages(browser, pages), *check_search(browser)]
        browser.close()
    print(
        "\n".join(problems)
        or f"{len(pages)} pages in {len(VIEWS)} views, {len(SEARCHES)} searches: no problems"
    )
    sys.exit(bool(problems))


def check_pages(browser: Browser, pages: list[Path]) -> Iterator[str]:
    for view in VIEWS:
        page = browser.new_context(**view).new_page()
        page.set_default_timeout(TIMEOUT)
        log = watch(page)
        for path in pages:
            page.goto(path.resolve().as_uri(), wait_until="load")
            width, window = page.evaluate(WIDTHS)
            is_dark = sum(page.evaluate(BRIGHTNESS)) < 384
            found = [*log, *(f"picture does not load: {one}" for one in page.evaluate(BROKEN))]
            found += [f"text is cut off: {one}" for one in page.evaluate(CUT_OFF)]
            if width > window:
                found.append(f"scrolls sideways: {width} px")
            if is_dark != (view["color_scheme"] == "dark"):
                found.append("ignores the colour scheme")
            log.clear()
            where = f"{path.relative_to(SITE)} at {view['viewport']['width']} px, {view['color_scheme']}"
            yield from (f"{where}: {one}" for one in found)
        page.context.close()


def watch(page: Page) -> list[str]:
    """Return a list to which errors and requests to a network are appended."""
    log: list[str] = []
    page.on("console", lambda one: log.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda one: log.append(str(one)))
    page.on(
        "request",
        lambda one: None if one.url.startswith(("file:", "data:")) else log.append(f"requests {one.url}"),
    )
    return log


def check_search(browser: Browser) -> Iterator[str]:
    """Type into the search box of the front page, as a reader does."""
    for words, wanted in SEARCHES.items():
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(TIMEOUT)
        log = watch(page)
        page.goto((SITE / "index.html").resolve().as_uri())
        page.locator("button.search-button-field:visible, button.search-button__button:visible").first.click()
        page.locator("dialog input[type=search], .search-button__search-container input").first.fill(words)
        page.keyboard.press("Enter")
        page.wait_for_url("**/search.html?*")
        result = page.locator(f"#search-results a[href*='{wanted}']").first
        try:
            expect(result).to_be_visible()
        except AssertionError:
            yield f"search for {words!r} does not find {wanted}"
        yield from (f"search for {words!r}: {one}" for one in log)
        page.close()


if __name__ == "__main__":
    main()
