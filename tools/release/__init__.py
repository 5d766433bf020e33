"""Releases and their supply chain.

- `distributions`, `contents`: sdist and wheel, built twice and compared, and what they must contain
- `requirements.txt`: programs of these tools, installed in their own environment by `make`
"""
