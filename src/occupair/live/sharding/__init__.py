"""Several services that share one store: each has some of the rooms, and shows all of them.

A room belongs to one shard (`occupair.live.room_shards`), which receives, estimates and stores its readings.
Every shard writes the states of its rooms to the store as they change, and its heartbeat every few
seconds. The others are notified, so that each shows all rooms. Rooms of a shard that is gone are ``stale``.

- `other_shards`: what is known of other shards and their rooms
- `exchange`: exchange of states and heartbeats through the store
"""
