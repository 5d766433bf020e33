"""BACnet/IP: readings from the points of other devices in, occupancy as objects of a BACnet device out.

In, the modules in the order of the data flow:

- `port_check`: bacpypes3 is installed, and the UDP port is free.
- `application`: the own BACnet device; notifications of other devices arrive there.
- `property_reads`: properties of the objects of a device, in batches.
- `subscription`: a subscription to changes of a value (COV), and whether it works.
- `point_values`: properties to quantities of a room, in the units of occupair.
- `device_poller`: the readings of one device, at the interval of its rooms; retries and subscriptions.
- `points`: the points of all rooms, by device.
- `link`: runs the pollers of all devices, and submits their readings to the pipeline.
- `discovery`: devices and CO2 points in the network, for the command line.

Out:

- `room_objects`: the objects of all rooms, kept up to date with the states of the pipeline.
- `instance_numbers`: the instance numbers of these objects.
- `value_objects`: Analog Value and Binary Value of a room.
- `device`: the Device object.
- `read_only`: the application, which other devices can read but not change.
- `cov_services`: COV subscriptions and notifications.
"""
