"""What every HTTP server of occupair shares: access control, headers, assets and error bodies."""
