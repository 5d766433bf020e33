"""Brick models in Turtle, imported as settings of the live service."""

from __future__ import annotations

import json
import tomllib
from random import Random

from occupair.live.semantic.brick_import import import_brick
from occupair.live.semantic.brick_model import read_model
from occupair.live.semantic.rooms_toml import format_draft
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.interesting import NUMBERS, TEXTS
from tools.fuzz.scratch import scratch_file
from tools.fuzz.trial import check

_MODEL = """@prefix brick: <https://brickschema.org/schema/Brick#> .
@prefix ref: <https://brickschema.org/schema/Brick/ref#> .
@prefix bacnet: <http://data.ashrae.org/bacnet/2020#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix unit: <http://qudt.org/vocab/unit/> .
@prefix : <urn:site#> .
:lab a brick:Room ; rdfs:label "Lab 7" ; brick:isPartOf :floor ; brick:hasPoint :co2, :fan .
:floor a brick:Floor ; rdfs:label "1" .
:co2 a brick:CO2_Sensor ; brick:hasUnit unit:PPM .
:co2 ref:hasExternalReference [ a ref:BACnetReference ; brick:BACnetURI "bacnet://7/analog-input,12" ] .
:fan a brick:Damper_Position_Command .
:fan ref:hasExternalReference [ a ref:MQTTReference ; ref:topic "a/b" ] .
:device a bacnet:BACnetDevice ; bacnet:device-instance 7 .
:lab brick:area [ brick:value 30.5 ; brick:hasUnit unit:M2 ] .
:lab brick:volume [ brick:value 90 ; brick:hasUnit unit:M3 ] .
:own rdfs:subClassOf brick:CO2_Sensor .
:other a :own ; brick:isPointOf :lab .
:zone a brick:HVAC_Zone ; brick:hasPart :lab .
:vav a brick:VAV ; brick:feeds :zone ; brick:hasPoint :fan ."""
_WORDS = (
    b":lab", b":co2", b" a ", b"brick:Room", b"brick:CO2_Sensor", b" ; ", b" . ", b"[ ", b" ]", b"( ", b" )",
    b'"""', b"_:x", b"<urn:x>", b"brick:isPartOf", b"brick:hasPoint", b"ref:hasExternalReference", b"@en",
    b"rdfs:subClassOf", b"@base <x> .", b'"1"^^<urn:t>',
)  # fmt: skip


def generate(random: Random) -> bytes:
    if random.random() < 0.02:
        return random_bytes(random, _WORDS)
    lines = _MODEL.split("\n")
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(lines))
        match random.randrange(5):
            case 0:
                del lines[place]
            case 1:
                words = lines[place].split(" ")
                words[random.randrange(len(words))] = random.choice(_WORDS).decode()
                lines[place] = " ".join(words)
            case 2:
                start, quote, rest = lines[place].partition('"')
                text = json.dumps(random.choice((*TEXTS, *NUMBERS)))
                lines[place] = start + (text + rest.partition('"')[2] if quote else "")
            case 3:
                lines.insert(place, lines[random.randrange(len(lines))].replace(":lab", ":co2"))
            case _:
                one = random.choice((":lab", ":floor", ":zone", ":co2", "_:b"))
                way = random.choice(
                    ("brick:isPartOf", "rdfs:subClassOf", "brick:hasPart", "brick:feeds", "a")
                )
                lines.append(f"{one} {way} {random.choice((':lab', ':floor', ':own'))} .")
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return mutate_bytes(data, random, _WORDS) if random.random() < 0.3 else data


def run(data: bytes) -> None:
    """Import a model; the draft of its settings must be TOML with its rooms."""
    draft = import_brick(read_model(scratch_file("site.ttl", data)), timezone="UTC")
    document = tomllib.loads(format_draft(draft, origin="site.ttl"))
    check(len(document.get("rooms", {})) == len(draft.rooms), "settings must have all rooms")
