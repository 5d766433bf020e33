"""A day replayed through BACnet, with the service killed in between, equals the library."""

import numpy as np
import pytest
from live.bacnet_service import FastService
from live.ports import free_port
from live.waiting import wait_for

from occupair.live.store import Store
from tools.simulated_bms import Bms

pytestmark = pytest.mark.slow

PATIENT = {"application.APDU_TIMEOUT": 120_000, "property_reads.ANSWER_WITHIN": 600.0}
"""A request must not be repeated: each one shows the next row of the day."""


def test_day_replayed_through_bacnet_equals_the_library(tmp_path, office, model, start):
    model.save(tmp_path / "model.occupair")
    day = office.iloc[3 * 288 : 4 * 288]
    rows = [
        {"analog-input,1": co2, "binary-input,1": "active" if fan else "inactive"}
        for co2, fan in zip(day["co2"], day["ventilation"], strict=True)
    ]
    assert set(day["ventilation"]) == {0.0, 1.0}
    port, clock = free_port(), tmp_path / "clock"
    points = [
        {"object": "analog-input,1", "name": "CO2", "value": 400},
        {"object": "binary-input,1", "name": "fan", "value": "inactive"},
    ]
    point = f'bacnet = "127.0.0.1:{port}", cov = false'
    rooms = (
        f'[rooms.lab]\nmodel = "model.occupair"\nco2 = {{ {point}, object = "analog-input,1" }}\n'
        f'ventilation = {{ {point}, object = "binary-input,1" }}\n'
    )
    with Bms([{"port": port, "instance": 7, "points": points}]) as bms:

        def replay(row):
            bms.command(replay={"port": port, "rows": rows, "row": row, "clock": str(clock)})

        replay(0)
        service = start(
            FastService(
                tmp_path,
                rooms=rooms,
                interval=0.01,
                more='clock = "readings"',
                constants=PATIENT,
                clock=clock,
                start=day.index[0].isoformat(),
                step=300.0,
            )
        )
        store = Store(service.store)
        wait_for(lambda: len(store.readings("lab", None, None)) >= 100)
        service.kill()
        replay(len(store.readings("lab", None, None)))
        service.start()
        wait_for(lambda: len(store.readings("lab", None, None)) == len(day))
        wait_for(lambda: len(store.estimates("lab", None, None, limit=1000)) == len(day))
        state = service.get("/api/rooms/lab")["state"]
        assert service.stop() == 0
    readings = store.readings("lab", None, None)
    assert [one.time for one in readings] == [time.to_pydatetime() for time in day.index]
    np.testing.assert_array_equal([one.co2 for one in readings], day["co2"])
    np.testing.assert_array_equal([one.ventilation for one in readings], day["ventilation"])
    estimates = store.estimates("lab", None, None, limit=1000)
    store.close()
    expected = model.estimate(day, interval=0.9)
    for name in ("people", "low", "high"):
        np.testing.assert_allclose([getattr(one, name) for one in estimates], expected[name], atol=1e-9)
    assert state["people_exact"] == pytest.approx(expected["people"].iloc[-1], abs=1e-9)
    assert expected["people"].max() > 3
