"""Pages of the reference that are made from the code: commands, settings, HTTP, MQTT, BACnet and Python.

Each module makes one page in Markdown. ``docs/conf.py`` writes them to ``docs/reference/`` before a build.
"""

import json
from pathlib import Path

from tools.reference import (
    bacnet_page,
    commands_page,
    http_page,
    mqtt_page,
    python_page,
    settings_page,
    store_page,
)


def pages() -> dict[str, str]:
    """Return the contents of all generated files by name."""
    return {
        "commands.md": commands_page.page(),
        "python.md": python_page.page(),
        "settings.md": settings_page.page(),
        "http.md": http_page.page(),
        "openapi.json": json.dumps(http_page.document(), indent=2) + "\n",
        "mqtt.md": mqtt_page.page(),
        "bacnet.md": bacnet_page.page(),
        "store.md": store_page.page(),
        **{f"{path}.md": text for path, text in python_page.name_pages().items()},
    }


def write_pages(folder: Path) -> None:
    """Write the files that have changed, so that a build renders only these again."""
    made = {folder / name: text for name, text in pages().items()}
    for old in set(folder.rglob("*.*")) - set(made):
        old.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
