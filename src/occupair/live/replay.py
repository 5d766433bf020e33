"""Replay of recorded readings: sent to a running service over HTTP, as if a sensor measured them now."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np
import pandas as pd

from occupair.errors import InputError
from occupair.progress import track
from occupair.readings.head_counts import has_label
from occupair.readings.other_sensors import sensor_names

REQUEST_EVERY = 0.25
"""Shortest time between two requests with readings [s], well below the rate limit of the service."""
LONGEST_PAUSE = 3600.0
"""Longer gaps of the recording are replayed like this one [s]."""
READINGS_PER_REQUEST = 1000
MAX_TRIES = 12
"""Tries of a request that the service asks to repeat (429, 503)."""
MAX_WAIT = 60
"""Longest wait before a request is repeated [s]."""
TIMEOUT = 60.0
"""How long a response may take [s]."""
REJECTED = ("future", "nonsense", "unknown_room")
"""Outcomes of readings that the service does not store."""


@dataclass
class Replayed:
    """What became of the readings.

    Parameters
    ----------
    outcomes : Counter
        Number of readings by outcome, such as ``accepted``.
    head_counts : int
        Number of head counts sent.
    state : dict
        State of the room afterwards, as in ``GET /api/rooms/ID``.
    detail : str
        Why the first rejected reading was rejected.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    head_counts: int = 0
    state: dict[str, Any] = field(default_factory=dict)
    detail: str = ""

    @property
    def rejected(self) -> int:
        """Number of readings that were not stored."""
        return sum(self.outcomes[outcome] for outcome in REJECTED)


class _NoRedirects(HTTPRedirectHandler):
    """Redirects are errors: urllib would follow them without the body, and send the token to another host."""

    def redirect_request(self, *_: object) -> None:
        """Do not follow a redirect."""


class ServiceClient:
    """The routes of one room of a running service.

    Parameters
    ----------
    url : str
        Address of the service, such as ``http://127.0.0.1:8099``.
    room : str
        Room id.
    token : str, optional
        Access token with the role write.
    sleep : callable
        Waits for a time [s].
    """

    def __init__(
        self, url: str, room: str, token: str | None = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        if not _is_address(url):
            raise InputError(f"--url must be an address such as http://127.0.0.1:8099, got {url!r}")
        self.url, self._room = url.rstrip("/"), f"{url.rstrip('/')}/api/rooms/{quote(room, safe='')}"
        self._headers = {"Content-Type": "application/json", "Accept-Language": "en"}
        if token:
            if not (token.isascii() and token.isprintable()):
                raise InputError("--token must be an access token as printed by 'occupair token'")
            self._headers["Authorization"] = f"Bearer {token}"
        self._sleep, self._open = sleep, build_opener(_NoRedirects).open

    def state(self) -> dict[str, Any]:
        """Return the state of the room."""
        state: dict[str, Any] = self._part(self._send(self._room), "state", dict)
        return state

    def post_readings(self, readings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Post readings and return their outcomes."""
        response = self._send(f"{self._room}/readings", readings)
        outcomes: list[dict[str, Any]] = self._part(response, "outcomes", list)
        return outcomes

    def post_head_count(self, time: str, people: int) -> None:
        """Post a head count."""
        self._send(f"{self._room}/labels", {"time": time, "people": people, "source": "typed"})

    def _send(self, address: str, body: Any = None) -> dict[str, Any]:
        """Send a request, again if the service asks for it, and return the response."""
        data = None if body is None else json.dumps(body).encode()
        for tries in range(1, MAX_TRIES + 1):
            try:
                with self._open(Request(address, data, self._headers), timeout=TIMEOUT) as response:
                    found: dict[str, Any] = json.load(response)
                if not isinstance(found, dict):
                    raise ValueError
                return found
            except HTTPError as error:
                with error:
                    wait = error.headers.get("Retry-After", "")
                    if error.code in (429, 503) and wait.isdecimal() and tries < MAX_TRIES:
                        self._sleep(min(int(wait), MAX_WAIT))
                        continue
                    raise InputError(f"{self.url}: {self._reason(error)}") from None
            except (OSError, HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                start = "start it with 'occupair serve rooms.toml'"
                raise InputError(f"{self.url}: the service does not respond, {reason}: {start}") from None
            except ValueError:
                raise self._other_server("is not a JSON object") from None
        raise AssertionError("unreachable")  # pragma: no cover

    def _part(self, response: dict[str, Any], name: str, kind: type) -> Any:
        if not isinstance(response.get(name), kind):
            raise self._other_server(f"has no {name}")
        return response[name]

    def _other_server(self, why: str) -> InputError:
        return InputError(f"{self.url}: is not the live service: its response {why}")

    def _reason(self, error: HTTPError) -> str:
        if error.code == 401:
            return "an access token is required: set OCCUPAIR_TOKEN to one with the role write"
        if 300 <= error.code < 400:
            return f"the server redirects to {error.headers.get('Location')}: use its address"
        try:
            detail = json.load(error)["detail"]
        except (ValueError, KeyError, TypeError):
            return f"the server responded {error.code} {error.reason}; is it the live service?"
        return str(detail)


def _is_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname)
    except ValueError:  # half of an IPv6 address
        return False


def replay(
    readings: pd.DataFrame,
    service: ServiceClient,
    *,
    speed: float = 60.0,
    head_count_every: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Replayed:
    """Send readings to a room of a running service at the pace at which they were recorded, or faster.

    Parameters
    ----------
    readings : DataFrame
        Readings, with ``occupancy`` if head counts are sent. Times without a zone are local to the room.
    service : ServiceClient
    speed : float
        Recorded time per real time; 0 sends everything at once.
    head_count_every : float, optional
        Recorded time between two head counts that are sent [min]; by default none are.
    sleep, clock : callable
        Wait, and the current time [s].

    Raises
    ------
    InputError
        If the service cannot be reached or refuses the request.
    """
    if not (math.isfinite(speed) and speed >= 0):
        raise InputError(f"--speed must be 0 or more, got {speed:g}")
    people = None if head_count_every is None else _head_counts(readings, head_count_every)
    service.state()  # fails before the first reading if the address, the room or the token is wrong
    done, start = Replayed(), clock()
    for batch in track(_batches(pd.DatetimeIndex(readings.index), speed), "replaying"):
        sleep(max(0.0, start + batch.due - clock()))
        part = slice(batch.first, batch.stop)
        for one in service.post_readings(_as_json(readings.iloc[part])):
            done.outcomes[one["outcome"]] += 1
            done.detail = done.detail or one.get("detail", "")
        if people is not None:
            for time_, count in people.iloc[part].dropna().items():
                service.post_head_count(_format(time_), int(count))
                done.head_counts += 1
    done.state = service.state()
    return done


class _Batch(NamedTuple):
    """Readings that are sent in one request, and when [s] after the start."""

    due: float
    first: int
    stop: int


def _batches(times: pd.DatetimeIndex, speed: float) -> list[_Batch]:
    """Group readings that are due within `REQUEST_EVERY`."""
    gaps = np.minimum((times[1:] - times[:-1]).total_seconds(), LONGEST_PAUSE)
    recorded = np.concatenate([[0.0], np.cumsum(gaps)])
    due = recorded / speed if speed else np.zeros(len(times))
    batches: list[_Batch] = []
    for k, when in enumerate(due):
        last = batches[-1] if batches else None
        if last and when < last.due + REQUEST_EVERY and k - last.first < READINGS_PER_REQUEST:
            batches[-1] = last._replace(stop=k + 1)
        else:
            batches.append(_Batch(float(when), k, k + 1))
    return batches


def _head_counts(readings: pd.DataFrame, every: float) -> pd.Series[float]:
    """Return the head counts to send, at most one in each period of ``every`` minutes; NaN elsewhere."""
    if not every > 0:
        raise InputError(f"--head-counts must be above 0 min, got {every:g}")
    known = readings["occupancy"].where(has_label(readings))
    labelled = known.dropna()
    period = pd.DatetimeIndex(labelled.index).floor(pd.Timedelta(minutes=every))
    return labelled[~period.duplicated()].reindex(known.index)


def _as_json(readings: pd.DataFrame) -> list[dict[str, Any]]:
    names = [name for name in ("co2", "ventilation") if name in readings.columns] + sensor_names(readings)
    rows = readings[names].to_dict("records")
    return [
        {"time": _format(when)} | {str(name): value for name, value in row.items() if not math.isnan(value)}
        for when, row in zip(readings.index, rows, strict=True)
    ]


def _format(when: Any) -> str:
    return str(pd.Timestamp(when).isoformat())
