"""Branch coverage of the core by its own tests: `make coverage`."""
