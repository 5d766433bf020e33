"""The benchmark of BACnet objects runs, on a few rooms."""

import asyncio

from tools.bacnet_objects import measure


def test_every_step_is_measured(capsys):
    asyncio.run(measure(30))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "add the 150 objects of 30 rooms",
        "memory of these objects",
        "read 1,000 elements of the object list",
        "change all rooms",
        "subscribe to 30 objects",
        "change all rooms, 30 notifications received",
    ]
