"""The command line: a thin skin over the library."""


def main() -> None:
    """Run the command line."""
