"""The utilisation report measured: ``python -m tools.utilisation``, run by ``make utilisation``."""
