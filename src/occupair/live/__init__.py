"""The live service: CO2 readings in, occupancy out, for one room or for thousands.

The path of one MQTT reading, file by file. Calls go down this list; results come back as return values.

1. `mqtt/client` receives the message. `mqtt/receiver` parses it (`mqtt/payloads`, `mqtt/formats`,
   `mqtt/device_times`) into a ``Reading`` of `messages` and submits it to the pipeline (`submission`), as
   `http/readings` does for a POST request and `bacnet/device_poller` for points of a BMS.
2. `pipeline` queues it for the estimating thread, which passes all waiting readings to the engine at once.
3. `rooms/engine` checks the reading and adds it to its room. `rooms/room` inserts it into
   `rooms/reading_grid`, looks for faults with `rooms/sensor_faults`, and decides which grid readings have
   to be estimated, and which of them again.
4. `rooms/engine` passes the readings that all rooms need estimated to ``occupair.live_rooms`` as one batch.
   From there they go to ``occupair.live_room`` and to the estimator of the room: ``occupair.room.live_day``
   and ``occupair.room.batch``, or ``occupair.paper``.
5. `rooms/day_estimates` turns the estimates into records. `rooms/room_state` turns the newest one into the
   state of the room: its occupancy, or the reason why that is unknown (`reasons`).
   `rooms/air_recommendation` adds the recommended outdoor air (``occupair.control``).
6. `pipeline` publishes the state at once: `mqtt/publisher` to the broker (`mqtt/topics`),
   `bacnet/room_objects` to a BMS, and `http/events` to the `page` (`http/state_json`).
7. `writer` writes the reading and its estimates to `store/store` (`store/database`) in one transaction. Only
   then is the message acknowledged to the broker.

`hours` combines stored estimates into local hours of a room, for `http/hours` and the page.

`room_pipeline` is the interface of `pipeline` to MQTT and BACnet, `subscriptions` how states reach them.

With shards (`room_shards`) several services share the rooms: `sharding` exchanges the states of all rooms
through the store, `http/forwarding` passes on requests to the shard of a room, and `workers` runs the shards
of one machine.

`startup_check` checks files and the store before the start. `service` runs all of it, with settings from
`config`. `rooms/restore` and `rooms/room_models` restore rooms and their models after a restart.
`stored_usage` reads the use of rooms from the store, for ``occupair report``. `retraining` trains new models
on labels in a child process (`training_process`, `training_scores`). `calibration` calibrates rooms without a
model every night (`calibration_process`). `delays` counts how long estimates take. `logs` sets up logging,
`wall_clock` is the system clock. `demo` is the service on simulated rooms (`demo_floors` draws their floor
plans), `home_assistant` the service as an app of Home Assistant. `replay` sends recorded readings to a
running service. `semantic` exports the rooms as building models, and writes settings from them.
"""
