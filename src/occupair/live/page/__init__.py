"""The page: all rooms at a glance, and a room's day. Plain files, served as they are.

`STATIC` is the folder. ``index.html`` is served at ``/``, everything else under ``/assets/``, and Plotly's
JavaScript from its own wheel as ``/assets/plotly.min.js``. The page has no inline script, loads nothing from
elsewhere and asks only ``/api``, so it works under ``default-src 'none'; script-src 'self'; style-src 'self'
'unsafe-inline'; img-src 'self' data:; connect-src 'self'``; Plotly needs the inline styles.
"""

from pathlib import Path

STATIC = Path(__file__).parent / "static"

__all__ = ["STATIC", "plotly_script"]


def plotly_script() -> Path:
    """Return the path of Plotly's JavaScript in its own package."""
    import plotly

    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
