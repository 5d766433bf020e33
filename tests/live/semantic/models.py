"""Settings and Brick models of the tests, and their validation by other libraries."""

from pathlib import Path

import brickschema
from rdflib import RDF, Namespace, URIRef

from occupair.live.config import read_config
from occupair.live.semantic.brick_import import import_brick
from occupair.live.semantic.brick_model import BrickModel, read_model
from occupair.live.semantic.rooms_toml import format_draft

OFFICE = Path(__file__).parent / "office.ttl"
QUDT = Namespace("http://qudt.org/schema/qudt/")

SETTINGS = """
[service]
timezone = "Europe/Copenhagen"
[mqtt]
host = "broker.example.org"
[bacnet]
address = "10.0.2.5/24"
device = 1234
port = 47809
[rooms.meeting-1]
name = "Meeting room 1"
floor = "Ground floor"
co2 = { bacnet = "10.0.2.7", object = "analog-input,12" }
ventilation = { bacnet = "10.0.2.7:47810", object = "analog-output,3", full = 100, cov = false }
temperature = { topic = "zigbee2mqtt/meeting-1", shape = "zigbee2mqtt" }
humidity = "zigbee2mqtt/meeting-1"
sound = { topic = "esp/sound", shape = "number" }
light = "tele/light/SENSOR"
wifi = { topic = "unifi/meeting-1", path = "clients" }
power = { bacnet = "20:7", object = "accumulator,1" }
motion = { topic = "zigbee2mqtt/pir", path = "sensors[0].occupancy" }
capacity = 12
area = 30.517578125
height = 2.7
[rooms.101]
name = 'Lab "A"'
floor = "1st floor"
timezone = "Europe/Oslo"
volume = 180
capacity = 24
co2 = { topic = "loggers/7", path = "measured.co2", time_path = "measured.at" }
ventilation = { topic = "bms/ahu1/fan", full = 100 }
[rooms.library]
floor = "1st floor"
interval = 7.5
co2 = { bacnet = "10.0.2.7", object = "analog-value,1" }
[rooms.http]
"""
"""Every kind of source and every setting that a building model can hold."""


def read_settings(folder, text=SETTINGS):
    path = folder / "rooms.toml"
    path.write_text(text)
    return read_config(path, {})


def imported(folder, turtle, **options):
    """Import a model; return its settings and the text of the file."""
    model = BrickModel(brickschema.Graph().parse(data=turtle, format="turtle"))
    text = format_draft(import_brick(model, **options), origin="building.ttl")
    return read_settings(folder, text), text


def imported_office(folder):
    text = format_draft(import_brick(read_model(OFFICE)), origin=OFFICE.name)
    return read_settings(folder, text), text


def validate(turtle, version):
    """Validate a model with the SHACL shapes of a Brick version; return whether it conforms, and a report.

    The package of Brick refers to units and quantity kinds of QUDT, but has no statements on them.
    """
    graph = brickschema.Graph(load_brick=True, brick_version=version)
    graph.parse(data=turtle, format="turtle")
    for term in {term for triple in graph for term in triple if isinstance(term, URIRef)}:
        if term.startswith("http://qudt.org/vocab/quantitykind/"):
            graph.add((term, RDF.type, QUDT.QuantityKind))
        elif term.startswith("http://qudt.org/vocab/unit/"):
            graph.add((term, RDF.type, QUDT.Unit))
    conforms, _, report = graph.validate()
    return conforms, report
