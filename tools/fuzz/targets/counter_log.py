"""MQTT logs of door counters."""

from __future__ import annotations

import json
from random import Random

from occupair.groundtruth.counters.read_passages import read_passages
from tools.fuzz.byte_mutations import mutate_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS, TIMES
from tools.fuzz.json_mutations import any_value
from tools.fuzz.scratch import scratch_file
from tools.fuzz.targets.counter import check_passages

_TOPICS = (
    "building/north/in",
    "building/north/out",
    "doors/a",
    "door",
    "a/in/out",
    "/",
    "battery",
    "b/entered",
)
_PAYLOADS = (
    "1",
    "in",
    "out",
    '{"in": 2, "out": 1}',
    '{"direction": "in", "count": 2}',
    '{"door": "x", "in": 3}',
    "12",
)


def generate(random: Random) -> bytes:
    lines = [_line(random, number) for number in range(random.randint(1, 6))]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return mutate_bytes(data, random) if random.random() < 0.25 else data


def _line(random: Random, number: int) -> str:
    time = f"2024-01-08T08:{number * 5:02}:00+0100" if random.random() < 0.85 else random.choice(TIMES)
    topic = random.choice(_TOPICS) if random.random() < 0.9 else random.choice(TEXTS)
    payload = random.choice(_PAYLOADS)
    if random.random() < 0.2:
        values = (any_value(random), random.choice(NUMBERS), random.choice(TEXTS))
        payload = json.dumps(
            {random.choice(("in", "out", "count", "door", "direction")): random.choice(values)}
        )
    elif random.random() < 0.1:
        payload = random.choice((*NUMBERS, *TEXTS))
    if random.random() < 0.3:
        fields = {"tst": time, "topic": topic, "qos": 0, "payload": payload}
        if random.random() < 0.2:
            fields[random.choice(list(fields))] = any_value(random)
        return json.dumps(fields)
    return f"{time} {topic} {payload}"


def run(data: bytes) -> None:
    check_passages(read_passages(scratch_file("counters.log", data), timezone="Europe/Copenhagen"))
