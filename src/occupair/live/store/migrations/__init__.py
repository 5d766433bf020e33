"""The alembic environment of a store: `env` runs the revisions in `versions`, oldest first.

To change the schema, change `schema` and add a file `versions/rNNNN_what.py` that names the revision before
it. Released revisions never change.
"""
