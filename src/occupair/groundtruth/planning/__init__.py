"""Which days to label next."""
