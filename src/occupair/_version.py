"""The version of occupair, for the package, its wheel and everything it writes."""

__version__ = "0.1.0"
