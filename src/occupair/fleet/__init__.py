"""Portfolios: thousands of rooms trained, estimated and scored on a process pool or a Dask cluster."""
