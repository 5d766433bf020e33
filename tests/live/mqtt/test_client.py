"""Cancellation of an MQTT client."""

import asyncio

import pytest

from occupair.live.mqtt.client import CancellableClient


@pytest.mark.parametrize("n_steps", range(4))
def test_cancellation_is_not_lost_when_the_reply_arrives_at_the_same_time(n_steps):
    """asyncio.wait_for, which aiomqtt uses, loses it in Python 3.11."""

    async def main():
        reply, is_over = asyncio.Event(), False

        async def publish_for_ever():
            client = CancellableClient("127.0.0.1")
            while not is_over:
                await client._wait_for(reply.wait(), 600.0)
                reply.clear()

        task = asyncio.create_task(publish_for_ever())
        await asyncio.sleep(0)
        reply.set()
        for _ in range(n_steps):
            await asyncio.sleep(0)
        task.cancel()
        for _ in range(10):  # more steps than it takes to end
            await asyncio.sleep(0)
        is_over = True
        reply.set()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(main())
