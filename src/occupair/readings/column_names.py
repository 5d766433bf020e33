"""Recognition of columns by the names that building systems and loggers use, in six languages.

Case, accents, spaces, underscores and units in brackets are ignored. A column named exactly ``time``,
``co2``, ``ventilation`` or ``occupancy`` takes precedence over other candidates, and names given by the
caller (``columns=``) take precedence over all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from occupair.errors import InputError
from occupair.readings.other_sensors import SENSORS
from occupair.readings.source import Source
from occupair.readings.time_zones import ABBREVIATIONS, STATED_OFFSET
from occupair.wording import quoted_list

ROLES = ("time", "date", "co2", "ventilation", "occupancy", *SENSORS)
"""The roles of columns; ``date`` is for files with date and time of day in two columns."""


@dataclass(frozen=True)
class NameRule:
    """Patterns that recognise a column name.

    ``stems`` match anywhere in the squeezed name, ``words`` only as whole words. Names that match
    ``unlikely`` are used only if there is no other candidate; those that match ``refused`` never.
    """

    stems: str
    words: frozenset[str] = frozenset()
    unlikely: str = "^$"
    refused: str = "^$"
    refused_words: frozenset[str] = frozenset()

    def rank(self, name: str) -> int | None:
        """Return the rank of a name: 1 likely, 2 unlikely, None no match."""
        words, squeezed = name_words(name), squeeze_name(name)
        if re.search(self.refused, squeezed) or self.refused_words & set(words):
            return None
        if not (re.search(self.stems, squeezed) or self.words & set(words)):
            return None
        return 2 if re.search(self.unlikely, squeezed) else 1


_NOT_A_READING = "setpoint|sollwert|setpkt|consigne|consigna|alarm|fault|threshold|limit|status|schedule"
_EXTREMES = frozenset({"min", "max", "minimum", "maximum", "std", "stdev", "sp"})

RULES = {
    "co2": NameRule(
        stems="co2|carbondioxide|kohlen(stoff)?dioxid|dioxydedecarbone|dioxidodecarbono|ku?o?o?ldioxid",
        unlikely="eco2",
        refused=f"outdoor|outside|aussen|exterieur|exterior|udendors|buiten|supply|zuluft|slope|{_NOT_A_READING}",
        refused_words=_EXTREMES | {"ude", "out", "valid", "state"},
    ),
    "ventilation": NameRule(
        stems="ventilat|ventilacion|damper|klappe|spjaeld|spjald|airflow|volumenstrom|luftm(ae|a|e)ng|"
        "luftflode|fanspeed|l(u|ue)ft(er|ung)|ventilador|debitd?air|caudal|compuerta|luchtdebiet|klepstand|"
        "zuluft|frischluft|supplyair|freshair|tilluft",
        words=frozenset({"vav", "fan", "vent", "klep", "debit", "registre", "volet"}),
        refused=f"energ|power|leistung|temp|pressure|druck|humid|feucht|hours|stunden|ceiling|{_NOT_A_READING}",
        refused_words=_EXTREMES | {"mode", "current", "co2"},
    ),
    "occupancy": NameRule(
        stems="occupan|people|persons?|personen|personer|belegung|headcount|occupation|ocupa|bezetting|"
        "anwesend|teilnehmer|deelnemers|effectif",
        words=frozenset({"count", "counts", "personnes", "personas", "ocupantes", "occupied"}),
        unlikely="presence|present|occupied|anwesenheit|detect",
        refused=f"capacity|wifi|wlan|device|estimat|predict|temp|energ|co2|{_NOT_A_READING}",
        refused_words=_EXTREMES | {"mode"},
    ),
}

_STAMPS = (
    "timestamp|datetime|zeitstempel|datum(und)?(uhr)?zeit|zeitpunkt|messzeit(punkt)?|horodat(age|e)|"
    "date(et)?heure|tidspunkt|tidsstempel|datoo?g?(tid|klokkeslaet)|fecha(y)?hora|tijdstip|tijdstempel|"
    "datum(en)?tijd|epoch|unix(time(stamp)?)?|ts|createdat|recordedat|measuredat|lastchanged|lastupdated|"
    "(sample|log|reading|measurement|record)(ing)?time"
)
_DATES = "date|datum|dato|fecha"
_CLOCKS = "time|zeit|uhrzeit|heure|tid|klokkeslaet|klokken|hora|tijd|timeofday"
_ZONE_WORDS = {*ABBREVIATIONS, "local", "lokal", "iso", "iso8601"}


def name_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without accents and text in brackets.

    Examples
    --------
    >>> name_words("Raum-CO2 [ppm]"), name_words("Luftmængde (m³/h)")
    (['raum', 'co2'], ['luftmaengde'])
    """
    bare = re.sub(r"[\[(<{].*?[\])>}]", " ", fold_text(name))
    return re.findall(r"[a-z0-9]+", bare)


def squeeze_name(name: str) -> str:
    """Return the words of a name joined into one."""
    return "".join(name_words(name))


def fold_text(text: str) -> str:
    """Return a text in lower case without accents.

    Examples
    --------
    >>> fold_text("CO₂ Außen, Spjæld, m³/h")
    'co2 aussen, spjaeld, m3/h'
    """
    if text.isascii():
        return text.lower()
    small = text.casefold().replace("æ", "ae").replace("ø", "o")
    return "".join(c for c in unicodedata.normalize("NFKD", small) if not unicodedata.combining(c))


def time_kind(name: str) -> str | None:
    """Return the kind of times a column name suggests: ``stamp``, ``date``, ``clock`` or None.

    Examples
    --------
    >>> [time_kind(name) for name in ("Date Time, GMT+08:00", "Dato", "time (UTC)", "co2")]
    ['stamp', 'date', 'clock', None]
    """
    bare = STATED_OFFSET.sub(" ", fold_text(name))
    squeezed = "".join(word for word in name_words(bare) if word not in _ZONE_WORDS)
    kinds = {"stamp": _STAMPS, "date": _DATES, "clock": _CLOCKS}
    return next((kind for kind, names in kinds.items() if re.fullmatch(names, squeezed)), None)


def check_column_option(given: Mapping[str, str] | None) -> dict[str, str]:
    """Raise InputError if the column names given by the caller are invalid, else return them."""
    given = dict(given or {})
    for role, name in given.items():
        if role not in ROLES:
            raise InputError(f"columns (--column) must be for {', '.join(ROLES)}, got {role!r}")
        if not isinstance(name, str):
            raise InputError(f"columns must map {role} to a column name, got {name!r}")
    if "date" in given and "time" not in given:
        raise InputError("columns (--column) with a date must also name the time-of-day column as time")
    twice = [name for name in given.values() if list(given.values()).count(name) > 1]
    if twice:
        raise InputError(f"columns (--column) must use each column once, got {twice[0]!r} twice")
    return given


def header_score(names: Sequence[str], given: Mapping[str, str]) -> int:
    """Return how many of a time and a CO2 column the names include: 0, 1 or 2."""
    times = [given["time"] in names] if "time" in given else [time_kind(name) is not None for name in names]
    return any(times) + bool(candidate_columns(names, "co2", given))


def candidate_columns(names: Sequence[str], role: str, given: Mapping[str, str]) -> list[int]:
    """Return the positions of the most likely columns for a role."""
    wanted = given.get(role, role)
    if wanted in names or role in given:
        return [k for k, name in enumerate(names) if name == wanted]
    taken = set(given.values())
    ranks = {k: RULES[role].rank(name) for k, name in enumerate(names) if name not in taken}
    best = min((rank for rank in ranks.values() if rank), default=None)
    return [k for k, rank in ranks.items() if best and rank == best]


def find_column(names: Sequence[str], role: str, given: Mapping[str, str], source: Source) -> int | None:
    """Return the position of the column for a role, None if there is none.

    Raises
    ------
    InputError
        If several columns match, or the given column does not exist.
    """
    found = candidate_columns(names, role, given)
    if role in given and not found:
        raise source.error(f"has no column {given[role]!r}, given as {role}, only {quoted_list(names)}")
    if len(found) > 1:
        raise source.error(ambiguity_message(role, [names[k] for k in found]))
    return found[0] if found else None


def ambiguity_message(role: str, names: Sequence[str]) -> str:
    """Return the message for several columns that match a role."""
    if len(set(names)) == 1:
        return f"has two columns {names[0]!r}: rename or delete one"
    which = f"{quoted_list(names[:-1])} and {names[-1]!r}"
    choice = f"choose one with {column_option(role, names[0])}"
    return f"has {len(names)} columns that match {role}, {which}: {choice}"


def column_option(role: str, name: str) -> str:
    """Return the option that names a column, on the command line and in Python.

    Examples
    --------
    >>> column_option("co2", "Raum 7")
    "--column co2='Raum 7' (in Python, columns={'co2': 'Raum 7'})"
    """
    return f"--column {role}={name!r} (in Python, columns={{{role!r}: {name!r}}})"
