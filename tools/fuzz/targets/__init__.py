"""The targets. Each module has ``generate(random)`` and ``run(data)``, see `tools.fuzz.target.Target`."""

SHARES = {
    "mqtt": 240,
    "times": 160,
    "floor_plan": 120,
    "bacnet": 110,
    "fleet_options": 70,
    "video_names": 60,
    "home_assistant": 50,
    "settings": 40,
    "environment": 40,
    "room_list": 20,
    "http": 15,
    "counting": 15,
    "csv": 10,
    "counter": 8,
    "counter_log": 8,
    "parquet": 8,
    "calendar": 8,
    "estimates": 6,
    "model": 6,
    "video": 6,
    "brick": 5,
    "backup": 2,
}
"""Share of each target in a number of inputs, relative to the sum: more of the fast ones."""
