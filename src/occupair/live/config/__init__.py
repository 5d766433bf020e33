"""Settings of the live service: rooms.toml and the environment."""
