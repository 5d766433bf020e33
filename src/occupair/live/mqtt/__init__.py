"""MQTT: readings from devices in, occupancy estimates and Home Assistant discovery out.

The modules in the order of the data flow:

- `client`: one connection to the broker, with explicit acknowledgements.
- `receiver`: incoming messages to readings, submitted to the pipeline and then acknowledged.
- `payloads`, `formats`, `device_times`: values and times in payloads of devices. A new format is added in
  `formats`.
- `publisher`: room states and announcements to the broker.
- `topics`: topics and room states of outgoing messages.
- `discovery`: Home Assistant discovery messages.
- `bridge`: runs receiver and publisher on a connection, and reconnects.
"""
