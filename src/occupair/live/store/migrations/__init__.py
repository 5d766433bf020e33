"""The alembic environment of a store: `env` runs the revisions in `versions`, oldest first.

A change of the schema is a change in `schema` and a file `versions/rNNNN_what.py` that names the revision
before it; revisions that were released stay as they are.
"""
