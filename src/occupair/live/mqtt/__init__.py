"""MQTT: payloads and readings in, counts and Home Assistant discovery out."""
