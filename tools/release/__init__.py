"""Releases and their supply chain.

- `distributions`, `contents`: sdist and wheel, built twice and compared, and what they must contain
- `runtime_environment`: occupair with all extras for users, in a clean environment
- `licences`, `bundled`, `licence_page`: licences of packages and of the libraries in their wheels
- `sbom`, `audit`: bill of materials, known vulnerabilities
- `requirements.txt`: programs of these tools, installed in their own environment by `make`
"""
