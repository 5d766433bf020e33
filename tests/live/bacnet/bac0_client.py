"""A BAC0 client in a process of its own: ``python bac0_client.py DEVICE PORT`` answers lines with JSON.

Lines are ``read ...``, ``all ...`` and ``write ...`` with the arguments of BAC0, or ``cov TYPE INSTANCE``.
Values received by COV are written as they arrive.
"""

import asyncio
import json
import sys

import BAC0


def say(**message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def main(device: str, port: int) -> None:
    BAC0.log_level("silence")
    loop = asyncio.get_running_loop()
    async with BAC0.start(ip="127.0.0.1/24", port=port, deviceId=99) as bacnet:
        say(ready=True)
        while line := (await loop.run_in_executor(None, sys.stdin.readline)).strip():
            verb, _, arguments = line.partition(" ")
            if verb == "read":
                value = await bacnet.read(f"{device} {arguments}")
                say(value=value if isinstance(value, float) else str(value))
            elif verb == "all":
                say(values=[str(one) for one in await bacnet.readMultiple(f"{device} {arguments} all")])
            elif verb == "write":
                try:
                    await bacnet._write(f"{device} {arguments}")
                except Exception as error:  # noqa: BLE001
                    say(error=str(error))
                else:
                    say(written=True)
            elif verb == "cov":
                kind, instance = arguments.split()
                bacnet.cov(device, (kind, int(instance)), lifetime=600, confirmed=True, callback=changed)


def changed(property_identifier, property_value) -> None:
    flags = [int(bit) for bit in property_value] if str(property_identifier) == "status-flags" else None
    say(property=str(property_identifier), changed=property_value if flags is None else flags)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
