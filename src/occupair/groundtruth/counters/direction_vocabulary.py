"""Vocabulary for entries and exits in column names, MQTT topics and events of door counters.

English, German, French, Spanish, Danish, Dutch and Norwegian.
"""

from __future__ import annotations

import re

from occupair.readings.column_names import name_words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IN = _words(
    "in ins into ingress enter enters entered entering entry entries entrance entrances arrive arrival "
    "arrivals incoming inbound inside ein eingang eingange eingaenge eintritt eintritte zugang rein herein "
    "kommen ind indgang indgaende entree entrees entrada entradas entran binnen inkomend inn"
)
OUT = _words(
    "out outs egress exit exits exited exiting leave leaves left leaving depart departure departures "
    "outgoing outbound outside aus ausgang ausgange ausgaenge austritt austritte abgang raus heraus gehen "
    "ud udgang udgaende sortie sorties salida salidas salen uit uitgaand ut"
)
GENERIC = _words(
    "count counts counter people persons personen personer visitors total totals number numbers sum "
    "cumulative of the value today anzahl antal nombre numero aantal state"
)
CUMULATIVE = _words("total totals cumulative accumulated absolute odometer gesamt zaehlerstand")
DOORS = _words("door doors tur tuer gate portal sensor device camera location entrance dor deur porte")
DIRECTIONS = _words("direction dir richtung event movement action retning type sens direccion richting")
NUMBERS = _words("count counts number people persons anzahl antal n nombre numero aantal")
STARTS = _words("start begin from von beginn anfang debut inicio fra van")


def split_words(name: str) -> list[str]:
    """Split a name into words, also at capital letters.

    Examples
    --------
    >>> split_words("northDoor_peopleIn"), split_words("Tür 2 Eingänge")
    (['north', 'door', 'people', 'in'], ['tur', '2', 'eingange'])
    """
    return name_words(re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z][a-z])", " ", name))


def direction(name: str) -> str | None:
    """Return the direction that a name means: ``"entered"``, ``"left"`` or None.

    Examples
    --------
    >>> direction("People In"), direction("Austritte"), direction("door"), direction("in/out")
    ('entered', 'left', None, None)
    """
    words = set(split_words(name))
    inward, outward = bool(words & IN), bool(words & OUT)
    return None if inward == outward else "entered" if inward else "left"


def without_direction(name: str) -> str:
    """Return a name without its direction and generic words, which leaves the door.

    Examples
    --------
    >>> without_direction("north_in"), without_direction("Door 2 people out"), without_direction("Total In")
    ('north', 'door 2', '')
    """
    return " ".join(word for word in split_words(name) if word not in IN | OUT | GENERIC)
