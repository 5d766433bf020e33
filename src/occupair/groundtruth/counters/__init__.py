"""Door counters: exported tables, MQTT logs and hand counts as passages."""
