"""The `occupair` command, also run by `python -m occupair`: the command line, and what Ctrl-C does to it."""

import signal
import sys
from types import FrameType

from occupair._version import __version__

INTERRUPTED = 128 + signal.SIGINT
"""Exit status after Ctrl-C, as in a shell."""

_was_interrupted = False


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while modules are imported."""
    if sys.argv[1:] == ["--version"]:  # without loading the command line
        print(f"occupair {__version__}")  # noqa: T201
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as by nohup
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from occupair.cli import main as run_command

        run_command()
    except SystemExit:
        raise  # of the command, which may stop in an orderly way
    except BaseException:  # an import that is interrupted may raise anything
        if not _was_interrupted:
            raise
        sys.exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _was_interrupted
    _was_interrupted = True
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
