"""BACnet objects follow a real pipeline: restored states, new estimates, faults and reloaded settings."""

import asyncio
import math
from contextlib import asynccontextmanager, suppress

from live.bacnet.bacnet_client import (
    ANALOG_VALUE,
    BINARY_VALUE,
    OBJECT_NAME,
    PRESENT_VALUE,
    RELIABILITY,
    STATUS_FLAGS,
    BacnetClient,
)
from live.bacnet.bacnet_device import (
    CO2,
    HIGH,
    LOW,
    OCCUPIED,
    PEOPLE,
    free_udp_port,
    is_bound,
    open_application,
)
from live.pipeline_helpers import readings_of, with_pipeline
from live.waiting import until

from occupair.live.bacnet.room_objects import RoomObjects

HALL = (ANALOG_VALUE, 21)


@asynccontextmanager
async def objects_of(pipeline):
    port = free_udp_port()
    application = open_application(port)
    objects = RoomObjects(application, pipeline.store, pipeline.config.rooms)
    task = asyncio.create_task(objects.run(pipeline))
    try:
        await until(lambda: (objects.is_complete and is_bound(port)) or task.done())
        async with BacnetClient.connect(port) as client:
            yield objects, client
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        application.close()


def test_objects_have_the_estimates(setup, store, office):
    day = readings_of(office.iloc[3 * 288 : 4 * 288])[: 15 * 12]  # until 15:00

    async def work(pipeline):
        async with objects_of(pipeline) as (_, client):
            assert await client.read(PEOPLE, RELIABILITY) == 1  # no sensor
            assert await client.read(HALL, RELIABILITY) == 10  # configuration error: no model
            await client.subscribe(PEOPLE)
            assert math.isnan((await client.notification()).values[PRESENT_VALUE])
            for first in range(0, len(day), 12):
                await pipeline.submit(day[first : first + 12])
            state = pipeline.state("lab")
            assert state.people > 0
            values = {}
            while values.get(PRESENT_VALUE) != state.people:
                values = (await client.notification()).values
            assert values[STATUS_FLAGS] == "0000"
            for target, expected in (
                (LOW, state.low),
                (HIGH, state.high),
                (CO2, state.co2_smoothed),
                (OCCUPIED, 1),
            ):
                found = await client.read(target, PRESENT_VALUE)
                assert math.isclose(found, expected, rel_tol=1e-6), target  # single precision
            assert math.isnan(await client.read(HALL, PRESENT_VALUE))

    with_pipeline(setup, store, work)


def test_restart_and_reload_keep_instance_numbers(setup, store):
    only_hall = setup.model_copy(update={"rooms": {"hall": setup.rooms["hall"]}})

    async def reload(pipeline):
        async with objects_of(pipeline) as (objects, client):
            await pipeline.reload(only_hall)
            objects.use_rooms(only_hall.rooms)
            await until(lambda: objects.is_complete)
            assert await client.read(HALL, OBJECT_NAME) == "hall.people"
            await pipeline.reload(setup)
            objects.use_rooms(setup.rooms)
            await until(lambda: objects.is_complete)
            assert await client.read(PEOPLE, OBJECT_NAME) == "lab.people"

    async def restart(pipeline):
        async with objects_of(pipeline) as (_, client):
            assert await client.read(HALL, OBJECT_NAME) == "hall.people"
            assert await client.read((BINARY_VALUE, 25), OBJECT_NAME) == "hall.occupied"

    with_pipeline(setup, store, reload)
    with_pipeline(only_hall, store, restart)
