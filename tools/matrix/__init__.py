"""The tests on the built wheel, for every interpreter found, with the newest and with the lowest versions.

- `suites`: which tests run, and which packages they need
- `interpreters`: interpreters on this machine
- `environments`: the wheel in clean virtual environments
- `__main__`: all combinations, the table of results and the failed tests
"""
