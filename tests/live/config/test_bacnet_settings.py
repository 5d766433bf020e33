"""Settings of BACnet: points of rooms, the own address, and mistakes."""

import pytest

from occupair.errors import InputError
from occupair.live.config import BacnetConfig, BacnetPoint, VentilationPoint, reread_config

ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'


def test_bacnet_points_of_a_room(read):
    config = read(
        '[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n[rooms.a]\n'
        'co2 = { bacnet = "10.0.2.7", object = "analog-input,12" }\n'
        'ventilation = { bacnet = "20:7", object = "analog-output,3", cov = false, full = 100 }\n'
        'humidity = "zigbee2mqtt/a"\n'
    )
    room = config.rooms["a"]
    assert config.bacnet == BacnetConfig(address="10.0.2.5/24", device=77)
    assert room.points == {
        "co2": BacnetPoint(bacnet="10.0.2.7", object="analog-input,12"),
        "ventilation": VentilationPoint(bacnet="20:7", object="analog-output,3", cov=False, full=100),
    }
    assert list(room.topics) == ["humidity"]
    assert list(room.sources) == ["co2", "ventilation", "humidity"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('bacnet = "ahu", object = "analog-input,1"', "co2.bacnet: must be IP, IP:PORT or NETWORK:STATION"),
        ('bacnet = "10.0.2.7:99999", object = "analog-input,1"', "co2.bacnet: must be IP"),
        ('bacnet = "10.0.2.7", object = "analog-input"', "co2.object: must be a type and an instance number"),
        ('bacnet = "10.0.2.7", object = "analog-input,4194303"', "co2.object: must be a type and"),
        ('bacnet = "10.0.2.7:", object = "analog-input,1"', "co2.bacnet: must be IP"),
        (
            'bacnet = "10.0.2.7", object = "analog-foo,3"',
            "co2.object: has an unknown object type, use for example analog-input, got 'analog-foo,3'",
        ),
        ('bacnet = "10.0.2.7"', "co2.object: is required"),
        (
            'bacnet = "10.0.2.7", object = "analog-input,1", full = 2',
            "co2.full: unknown key, expected bacnet,",
        ),
    ],
)
def test_mistakes_of_bacnet_points(read, table, message):
    with pytest.raises(InputError, match=f"line 5, rooms.a.{message}"):
        read(f'[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n[rooms.a]\nco2 = {{ {table} }}\n')


@pytest.mark.parametrize("address", ["0.0.0.0", "0.0.0.0/0", "10.0.2.0/24", "10.0.2.255/24", "224.0.0.1"])
def test_own_bacnet_address_is_that_of_a_machine(read, address):
    with pytest.raises(InputError, match=r"bacnet.address: must be the address of this machine, not of all"):
        read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{ROOM}')


@pytest.mark.parametrize("address", ["10.0.2.0", "10.0.2.0/31", "10.0.2.255/16"])
def test_own_bacnet_address_that_ends_with_0_or_255(read, address):
    assert read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{ROOM}').bacnet.address == address


@pytest.mark.parametrize("bbmd", ["20:7", "10.0.9.1:0", "10.0.9.1:", "10.0.9.1/24", "bbmd.example"])
def test_bbmd_is_an_ip_address(read, bbmd):
    with pytest.raises(InputError, match=r"line 4, bacnet.bbmd: must be IP or IP:PORT, as in 10.0.9.1 or"):
        read(f'[bacnet]\naddress = "10.0.2.5"\ndevice = 77\nbbmd = "{bbmd}"\n{ROOM}')


def test_reload_with_an_unknown_object_type_is_refused(read):
    text = '[bacnet]\naddress = "10.0.2.5"\ndevice = 77\n[rooms.a]\n'
    config = read(text + 'co2 = { bacnet = "10.0.2.7", object = "analog-input,3" }\n')
    config.origin.path.write_text(text + 'co2 = { bacnet = "10.0.2.7", object = "analog-foo,3" }\n')
    with pytest.raises(InputError, match=r"line 5, rooms.a.co2.object: has an unknown object type"):
        reread_config(config)


def test_bacnet_point_requires_the_bacnet_table(read):
    with pytest.raises(InputError, match=r"rooms.a.co2: requires a table \[bacnet\]"):
        read('[rooms.a]\nco2 = { bacnet = "10.0.2.7", object = "analog-input,12" }\n')


def test_device_behind_a_router_requires_broadcasts(read):
    room = '[rooms.a]\nco2 = { bacnet = "20:7", object = "analog-input,12" }\n'
    message = r"rooms.a.co2.bacnet: requires bacnet.address with its network, to find the router"
    for address in ("10.0.2.5", "10.0.2.5/32"):
        with pytest.raises(InputError, match=message):
            read(f'[bacnet]\naddress = "{address}"\ndevice = 77\n{room}')
    assert read(f'[bacnet]\naddress = "10.0.2.5"\nbbmd = "10.0.9.1"\ndevice = 77\n{room}').rooms
    assert read(f'[bacnet]\naddress = "10.0.2.5/24"\ndevice = 77\n{room}').rooms
