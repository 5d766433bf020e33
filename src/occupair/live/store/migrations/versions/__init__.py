"""Schema revisions, one file each."""
