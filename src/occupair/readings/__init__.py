"""Readings: files, columns, times, units, the regular grid and head counts."""
