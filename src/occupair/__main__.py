"""`python -m occupair` is the command line."""

from occupair.cli import main

main()
