"""The page of the live service: all rooms now and today, floor plans, and the day and the week of each room.

``index.html`` is served at ``/``, the other files under ``/assets/``, together with the shared files of
`occupair.web` and Plotly's JavaScript from its own package. All visible text is in ``languages/``, one file
per language. The page has no inline script, loads nothing from other servers and requests only ``/api``. It
complies with ``default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;
connect-src 'self'``; Plotly needs the inline styles.
"""

from pathlib import Path

STATIC = Path(__file__).parent / "static"

__all__ = ["STATIC", "plotly_script"]


def plotly_script() -> Path:
    """Return the path of Plotly's JavaScript in its own package."""
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
