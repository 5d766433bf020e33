"""How many people are in the room? Ask the CO2 sensor it already has."""
