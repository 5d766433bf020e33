"""Rooms of the live service as building models, Brick (RDF, Turtle) and Project Haystack, and the reverse.

Export:

- `points`: the points of a room with their Brick class, QUDT unit and Haystack tags.
- `brick_terms`: namespaces, and the names of the Brick and RealEstateCore classes that matter here.
- `brick_export`: the rooms of the settings as Turtle.
- `haystack_export`: the same as a Haystack 4 grid in JSON.

Import:

- `brick_model`: reads Turtle; rooms, zones, points, equipment and how they relate.
- `brick_references`: BACnet objects and MQTT topics of points.
- `brick_places`: finds the rooms and zones with a CO2 sensor.
- `brick_import`: chooses a source for each quantity of these.
- `fleet_import`: the rooms of a portfolio, with their models.
- `rooms_toml`: writes these rooms as settings, with a comment for each decision.

Brick requires rdflib, ``pip install 'occupair[semantic]'``.
"""
