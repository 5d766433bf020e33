"""The targets. Each module has ``generate(random)`` and ``run(data)``, see `tools.fuzz.target.Target`."""

SHARES = {
    "mqtt": 300,
    "times": 150,
    "settings": 60,
    "environment": 60,
    "home_assistant": 60,
    "fleet_options": 60,
    "room_list": 20,
    "bacnet": 60,
    "floor_plan": 60,
    "counting": 40,
    "model": 40,
    "http": 30,
    "csv": 20,
    "counter": 15,
    "counter_log": 20,
    "estimates": 10,
    "parquet": 15,
    "calendar": 10,
    "video": 10,
    "video_names": 20,
    "backup": 10,
    "brick": 10,
}
"""Share of each target in a number of inputs, relative to the sum: more of the fast ones."""
