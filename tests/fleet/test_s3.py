"""Portfolios in an object store: the S3 server of moto on loopback, through s3fs."""

import boto3
import fsspec
import pytest
from fleet.folders import model_bytes
from fleet.immediate import Immediate
from fleet.portfolio import plant_faults, write_rooms
from live.ports import free_port
from moto.server import ThreadedMotoServer

from occupair.fleet.model_runs import estimate_fleet
from occupair.fleet.training_run import fit_fleet, read_fleet

pytestmark = pytest.mark.slow

BUCKET = "buildings"


@pytest.fixture
def bucket(monkeypatch):
    """An empty bucket; clients, also those of worker processes, find it by environment variables."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=free_port(), verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fsspec.filesystem("s3").clear_instance_cache()
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    yield f"s3://{BUCKET}"
    fsspec.filesystem("s3").clear_instance_cache()
    server.stop()


def test_bucket_gives_the_same_models_as_a_folder(bucket, tmp_path):
    write_rooms(tmp_path / "data", 3)
    plant_faults(tmp_path / "data")
    fit_fleet(tmp_path / "data", tmp_path / "models", executor=Immediate())
    s3 = fsspec.filesystem("s3")
    s3.put(str(tmp_path / "data"), f"{bucket}/readings", recursive=True)
    run = fit_fleet(f"{bucket}/readings", f"{bucket}/models", workers=2)
    s3.invalidate_cache()
    s3.get(f"{bucket}/models", str(tmp_path / "copy"), recursive=True)
    assert model_bytes(tmp_path / "copy") == model_bytes(tmp_path / "models")
    assert [(one.room, one.status, one.reason) for one in run.results] == [
        (one.room, one.status, one.reason) for one in read_fleet(tmp_path / "models")
    ]
    again = fit_fleet(f"{bucket}/readings", f"{bucket}/models", executor=Immediate())
    assert again.n_unchanged >= 3
    estimated = estimate_fleet(
        f"{bucket}/readings", f"{bucket}/models", f"{bucket}/people", executor=Immediate()
    )
    assert sum(one.status == "estimated" for one in estimated.results) == len(
        model_bytes(tmp_path / "models")
    )
    assert s3.exists(f"{bucket}/people/room=room-00/estimates.parquet")


def test_bucket_that_is_not_there_is_one_line(bucket, tmp_path):
    from occupair.errors import InputError

    with pytest.raises(InputError, match="s3://elsewhere/readings: "):
        fit_fleet("s3://elsewhere/readings", tmp_path, workers=1)
