"""Utilisation of rooms: when they are used, by how many people, and which seats are never used."""
