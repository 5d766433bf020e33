"""Draw the icon and the logo of the Home Assistant app, from the icon of the pages (requires chromium)."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from tools.chromium import launch

ROOT = Path(__file__).parents[1]
ICON = (ROOT / "src/occupair/web/static/icon.svg").read_text()
FOLDER = ROOT / "deploy/home-assistant-app/occupair"
STYLE = "margin:0;display:flex;align-items:center;justify-content:center;gap:14px;background:transparent"
TEXT = "font:700 38px 'Liberation Sans',Arial,sans-serif;letter-spacing:-1px;color:#0b6b62"
PICTURES = {
    "icon.png": (128, 128, ICON.replace("<svg ", '<svg width="128" height="128" ')),
    "logo.png": (
        250,
        100,
        ICON.replace("<svg ", '<svg width="64" height="64" ') + f'<span style="{TEXT}">occupair</span>',
    ),
}
"""Width, height [px] and contents of each picture."""


def main() -> None:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, (width, height, content) in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_content(f'<body style="{STYLE};height:{height}px">{content}</body>')
            page.screenshot(path=FOLDER / name, omit_background=True)
        browser.close()


if __name__ == "__main__":
    main()
