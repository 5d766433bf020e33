"""Rooms with texts that a page must show as they are, and the data in a page."""

import json
import re
from datetime import datetime

from occupair.fleet.room_result import RoomResult
from occupair.fleet.rooms_page_data import ROOM_MARK

TIME = datetime(2025, 3, 31, 6, 30)
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "\"quoted\" & <b>bold</b> 'single'",
    "$& $1 ${title} $title",
    '=HYPERLINK("http://example.org","x")',
    "Raum 🏫 Übung",
    "غرفة الاجتماعات 12",
    "x" * 300,
    "line\nbreak\ttab",
    f"{ROOM_MARK} mark",
    "<!--",
]


def hostile_results():
    return [
        RoomResult(
            name,
            "failed",
            reason=f"{name}.csv: {name} </script>",
            advice=name,
            findings=name,
            sensor="faulty",
        )
        for name in HOSTILE
    ]


def data_of(html):
    return json.loads(re.search(r'id="rooms-data">(.*?)</script>', html, re.DOTALL)[1])
