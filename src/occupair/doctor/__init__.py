"""Checks of an installation: is everything there that occupair needs, and does it work.

- `extras`: the extras of the package and what each adds
- `requirements`: dependencies, their bounds and the installed versions
- `compiled_code`: whether numba compiles, and where it caches
- `machine`: Python, platform, cores, BLAS and time zones
- `folders`: cache folders and their sizes
- `examination`: all of it as one document, with problems and remedies
"""
