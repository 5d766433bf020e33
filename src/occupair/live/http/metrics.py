"""Prometheus metrics, collected on request from the pipeline; there is no global registry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool

from occupair._version import __version__
from occupair.live.delays import BOUNDS, DelayCounts
from occupair.live.http.events import Streams
from occupair.live.http.health import overall_health
from occupair.live.messages import Quality, RoomState
from occupair.web.access import require
from occupair.web.errors import error_responses

if TYPE_CHECKING:
    from occupair.live.pipeline import Pipeline

router = APIRouter(tags=["operation"])
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_GAUGES: tuple[tuple[str, str, Callable[[RoomState], float | None]], ...] = (
    ("occupair_room_people", "Occupancy [people].", lambda state: state.people),
    ("occupair_room_people_low", "Lower limit of the prediction interval [people].", lambda state: state.low),
    (
        "occupair_room_people_high",
        "Upper limit of the prediction interval [people].",
        lambda state: state.high,
    ),
    ("occupair_room_occupied", "Whether the room is occupied [0 or 1].", lambda state: state.occupied),
    ("occupair_room_co2_ppm", "CO2 [ppm].", lambda state: state.co2),
    (
        "occupair_room_baseline_shift_ppm",
        "Shift of the CO2 baseline since training that the occupancy is corrected for [ppm].",
        lambda state: state.baseline_shift,
    ),
    ("occupair_room_ventilation", "Ventilation [0..1].", lambda state: state.ventilation),
    (
        "occupair_room_outdoor_air_liters_per_second",
        "Recommended outdoor air [L/s].",
        lambda state: state.outdoor_air,
    ),
    ("occupair_room_damper", "Recommended damper position [0..1].", lambda state: state.damper),
    (
        "occupair_room_time_seconds",
        "Time of the newest estimate [s since 1970].",
        lambda state: state.time.timestamp() if state.time else None,
    ),
)


class RoomCollector(Collector):
    """Metrics of each room. An unknown value has no series, so a graph shows a gap and not a zero."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    def collect(self) -> Iterator[Metric]:
        """Collect the current values."""
        states = list(self.pipeline.states().values())
        for name, help_text, value_of in _GAUGES:
            gauge = GaugeMetricFamily(name, help_text)
            for state in states:
                if (value := value_of(state)) is not None:
                    gauge.add_sample(name, {"room": state.room}, float(value))
            yield gauge
        quality = GaugeMetricFamily("occupair_room_quality", "1 for the current quality flag of the room.")
        for state in states:
            quality.add_sample(quality.name, {"room": state.room, "quality": state.quality.value}, 1.0)
        yield quality
        yield from self._intervals([state.room for state in states])

    def _intervals(self, rooms: Sequence[str]) -> Iterator[Metric]:
        """Collect the running coverage of the prediction intervals, of rooms with labels."""
        coverage = GaugeMetricFamily(
            "occupair_room_interval_coverage",
            "Share of the newest labels within the prediction interval [0..1].",
            labels=("room",),
        )
        labels = GaugeMetricFamily(
            "occupair_room_interval_labels", "Labels that the coverage is of.", labels=("room",)
        )
        factors = GaugeMetricFamily(
            "occupair_room_interval_factor",
            "Correction of the distance of a limit of the prediction interval from the estimate.",
            labels=("room", "limit"),
        )
        for room in rooms:
            correction = self.pipeline.correction(room)
            if correction.coverage is not None:
                coverage.add_metric((room,), correction.coverage)
                labels.add_metric((room,), correction.labels)
                for limit, factor in zip(("low", "high"), correction.factors[-1], strict=True):
                    factors.add_metric((room, limit), factor)
        yield from (coverage, labels, factors)


class ServiceCollector(Collector):
    """Metrics of the service."""

    def __init__(self, pipeline: Pipeline, streams: Streams) -> None:
        self.pipeline = pipeline
        self.streams = streams

    def collect(self) -> Iterator[Metric]:
        """Collect the current values."""
        yield InfoMetricFamily("occupair_build", "Version of the service.", {"version": __version__})
        yield self._readings()
        yield self._rooms()
        yield GaugeMetricFamily("occupair_event_streams", "Open event streams.", value=self.streams.open)
        yield GaugeMetricFamily(
            "occupair_up",
            "1 if all parts are healthy.",
            value=float(overall_health(self.pipeline.part_status, self.pipeline.links) == "ok"),
        )
        yield CounterMetricFamily(
            "occupair_estimates", "Estimates made.", value=self.pipeline.estimates_total
        )
        yield GaugeMetricFamily(
            "occupair_store_queue", "Readings waiting to be stored.", value=self.pipeline.waiting
        )
        yield delay_histogram(self.pipeline.delays)

    def _readings(self) -> Metric:
        readings = CounterMetricFamily(
            "occupair_readings",
            "Readings by source and outcome.",
            labels=("source", "outcome"),
        )
        for (source, outcome), count in sorted(self.pipeline.counters.copy().items()):
            readings.add_metric((source, outcome.value), count)
        return readings

    def _rooms(self) -> Metric:
        rooms = GaugeMetricFamily("occupair_rooms", "Rooms by quality flag.", labels=("quality",))
        counts = Counter(state.quality for state in self.pipeline.states().values())
        for quality in Quality:
            rooms.add_metric((quality.value,), counts[quality])
        return rooms


def delay_histogram(delays: DelayCounts) -> Metric:
    """Return the delays of estimates as a histogram."""
    names = (*map(repr, BOUNDS), "+Inf")
    return HistogramMetricFamily(
        "occupair_estimate_delay_seconds",
        "Delay from the arrival of a reading to its estimate [s].",
        buckets=list(zip(names, map(float, accumulate(delays.counts.copy())), strict=True)),
        sum_value=delays.total,
    )


def make_registry(pipeline: Pipeline, streams: Streams) -> CollectorRegistry:
    """Create the registry of an application."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(pipeline, streams))
    if pipeline.config.room_metrics:
        registry.register(RoomCollector(pipeline))
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    dependencies=[Depends(require("read"))],
    responses=error_responses()
    | {
        200: {
            "content": {"text/plain": {"schema": {"type": "string"}}},
            "description": "Text format, version 0.0.4.",
        }
    },
)
async def metrics(request: Request) -> Response:
    """Return the metrics; those of each room only with the setting ``room_metrics``."""
    text = await run_in_threadpool(generate_latest, request.app.state.registry)
    return Response(text, headers={"Content-Type": CONTENT_TYPE})
