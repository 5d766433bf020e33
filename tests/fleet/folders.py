"""What a run leaves in its folder, and results without their duration."""

from dataclasses import asdict


def model_bytes(folder):
    """Content of all models by file name, without temporary files."""
    found = sorted((folder / "rooms").glob("[!.]*.occupair"))
    return {path.name: path.read_bytes() for path in found}


def facts(results):
    """Results as text by room, without the time they took."""
    return {result.room: repr({**asdict(result), "seconds": None}) for result in results}
