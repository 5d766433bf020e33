"""Devices and CO2 points in a BACnet network, for the command line."""
