"""The ledger: passages added up to occupancy, checked and corrected."""
