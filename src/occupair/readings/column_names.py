"""Which column of a file is which: names as building systems and loggers write them, in six languages.

A name is guessed from its words; case, accents, spaces, underscores and units in brackets do not count.
A column called exactly ``time``, ``co2``, ``ventilation`` or ``occupancy`` is taken before any other,
and what the caller says (``columns=``) before everything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from occupair.errors import InputError
from occupair.readings.source import Source
from occupair.wording import quoted_list

ROLES = ("time", "date", "co2", "ventilation", "occupancy")
"""What a column can be; ``date`` is for files that write date and time of day in two columns."""


@dataclass(frozen=True)
class Rule:
    """A name is taken if it has one of these; less likely ones only if there is no likely one.

    ``stems`` may be anywhere in the squeezed name, ``words`` have to be words of it.
    """

    stems: str
    words: frozenset[str] = frozenset()
    unlikely: str = "^$"
    refused: str = "^$"
    refused_words: frozenset[str] = frozenset()

    def rank(self, name: str) -> int | None:
        """Rank a name: 1 likely, 2 unlikely, None not at all."""
        words, squeezed = name_words(name), squeeze(name)
        if re.search(self.refused, squeezed) or self.refused_words & set(words):
            return None
        if not (re.search(self.stems, squeezed) or self.words & set(words)):
            return None
        return 2 if re.search(self.unlikely, squeezed) else 1


_NOT_A_READING = "setpoint|sollwert|setpkt|consigne|consigna|alarm|fault|threshold|limit|status|schedule"
_EXTREMES = frozenset({"min", "max", "minimum", "maximum", "std", "stdev", "sp"})

RULES = {
    "co2": Rule(
        stems="co2|carbondioxide|kohlen(stoff)?dioxid|dioxydedecarbone|dioxidodecarbono|ku?o?o?ldioxid",
        unlikely="eco2",
        refused=f"outdoor|outside|aussen|exterieur|exterior|udendors|buiten|supply|zuluft|slope|{_NOT_A_READING}",
        refused_words=_EXTREMES | {"ude", "out", "valid", "state"},
    ),
    "ventilation": Rule(
        stems="ventilat|ventilacion|damper|klappe|spjaeld|spjald|airflow|volumenstrom|luftm(ae|a|e)ng|"
        "luftflode|fanspeed|l(u|ue)ft(er|ung)|ventilador|debitd?air|caudal|compuerta|luchtdebiet|klepstand|"
        "zuluft|frischluft|supplyair|freshair|tilluft",
        words=frozenset({"vav", "fan", "vent", "klep", "debit", "registre", "volet"}),
        refused=f"energ|power|leistung|temp|pressure|druck|humid|feucht|hours|stunden|ceiling|{_NOT_A_READING}",
        refused_words=_EXTREMES | {"mode", "current", "co2"},
    ),
    "occupancy": Rule(
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
_ZONE_WORDS = {"utc", "gmt", "local", "lokal", "cet", "cest", "iso", "iso8601"}


def name_words(name: str) -> list[str]:
    """Split a name into small letters' words without accents and without what stands in brackets.

    Examples
    --------
    >>> name_words("Raum-CO2 [ppm]"), name_words("Luftmængde (m³/h)")
    (['raum', 'co2'], ['luftmaengde'])
    """
    bare = re.sub(r"[\[(<{].*?[\])>}]", " ", fold(name))
    return re.findall(r"[a-z0-9]+", bare)


def squeeze(name: str) -> str:
    """Write the words of a name as one."""
    return "".join(name_words(name))


def fold(text: str) -> str:
    """Write in small letters without accents.

    Examples
    --------
    >>> fold("CO₂ Außen, Spjæld, m³/h")
    'co2 aussen, spjaeld, m3/h'
    """
    if text.isascii():
        return text.lower()
    small = text.casefold().replace("æ", "ae").replace("ø", "o")
    return "".join(c for c in unicodedata.normalize("NFKD", small) if not unicodedata.combining(c))


def is_utc(name: str) -> bool:
    """Whether the name of a time column says that its times are UTC.

    Examples
    --------
    >>> is_utc("Time (UTC)"), is_utc("time_gmt"), is_utc("UTC+8 time"), is_utc("time")
    (True, True, False, False)
    """
    words = re.findall(r"[a-z]+|[+-]\d+", fold(name).replace("_", " "))
    return bool({"utc", "gmt"} & set(words)) and not any(word[0] in "+-" for word in words)


def time_kind(name: str) -> str | None:
    """Tell the kind of time a column name promises: ``stamp``, ``date``, ``clock`` or nothing.

    Examples
    --------
    >>> [time_kind(name) for name in ("Zeitstempel", "Dato", "time (UTC)", "co2")]
    ['stamp', 'date', 'clock', None]
    """
    squeezed = "".join(word for word in name_words(name) if word not in _ZONE_WORDS)
    kinds = {"stamp": _STAMPS, "date": _DATES, "clock": _CLOCKS}
    return next((kind for kind, names in kinds.items() if re.fullmatch(names, squeezed)), None)


def check_given(given: Mapping[str, str] | None) -> dict[str, str]:
    """Check what the caller says about columns, ours to theirs."""
    given = dict(given or {})
    for role, name in given.items():
        if role not in ROLES:
            raise InputError(f"columns (--column) must name {', '.join(ROLES)}, got {role!r}")
        if not isinstance(name, str):
            raise InputError(f"columns must give {role} the name of a column, got {name!r}")
    if "date" in given and "time" not in given:
        raise InputError("columns (--column) must name the time of day as time where they name a date")
    twice = [name for name in given.values() if list(given.values()).count(name) > 1]
    if twice:
        raise InputError(f"columns (--column) must name each column once, got {twice[0]!r} twice")
    return given


def header_score(names: Sequence[str], given: Mapping[str, str]) -> int:
    """How much a line looks like the header: 2 has a time and CO2, 1 one of them, 0 none."""
    times = [given["time"] in names] if "time" in given else [time_kind(name) is not None for name in names]
    return any(times) + bool(candidates(names, "co2", given))


def candidates(names: Sequence[str], role: str, given: Mapping[str, str]) -> list[int]:
    """Positions of the columns that may be ``role``, the most likely kind only."""
    wanted = given.get(role, role)
    if wanted in names or role in given:
        return [k for k, name in enumerate(names) if name == wanted]
    taken = set(given.values())
    ranks = {k: RULES[role].rank(name) for k, name in enumerate(names) if name not in taken}
    best = min((rank for rank in ranks.values() if rank), default=None)
    return [k for k, rank in ranks.items() if best and rank == best]


def choose(names: Sequence[str], role: str, given: Mapping[str, str], source: Source) -> int | None:
    """Position of the column that is ``role``; None if there is none.

    Raises
    ------
    InputError
        When several could be it, or the one that was asked for is not there.
    """
    found = candidates(names, role, given)
    if role in given and not found:
        raise source.error(f"has no column {given[role]!r}, given as {role}, only {quoted_list(names)}")
    if len(found) > 1:
        raise source.error(ambiguous(role, [names[k] for k in found]))
    return found[0] if found else None


def ambiguous(role: str, names: Sequence[str]) -> str:
    """Say that several columns could be ``role`` and how to choose."""
    if len(set(names)) == 1:
        return f"has two columns {names[0]!r}: rename or delete one"
    which = f"{quoted_list(names[:-1])} and {names[-1]!r}"
    choice = f"choose one with {column_option(role, names[0])}"
    return f"has {len(names)} columns that may be {role}, {which}: {choice}"


def column_option(role: str, name: str) -> str:
    """Say how a column is named, on the command line and in Python.

    Examples
    --------
    >>> column_option("co2", "Raum 7")
    "--column co2='Raum 7' (in Python, columns={'co2': 'Raum 7'})"
    """
    return f"--column {role}={name!r} (in Python, columns={{{role!r}: {name!r}}})"
