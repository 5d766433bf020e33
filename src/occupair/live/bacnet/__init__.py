"""BACnet/IP: occupancy of the rooms as objects of a BACnet device.

The modules in the order of the data flow:

- `room_objects`: the objects of all rooms, kept up to date with the states of the pipeline.
- `value_objects`: Analog Value and Binary Value of a room.
- `device`: the Device object.
- `read_only`: the application, which other devices can read but not change.
- `cov_services`: COV subscriptions and notifications.
"""
