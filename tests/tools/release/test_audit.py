"""Exit status and message of an audit, from reports in the format of pip-audit 2.10."""

import json

import pytest

from tools.release.audit import parse

SAFE = {"name": "numpy", "version": "2.4.6", "vulns": []}
OURS = {"name": "occupair", "skip_reason": "Dependency not found on PyPI"}
FLAW = {"id": "PYSEC-2026-1", "fix_versions": ["1.1"], "aliases": [], "description": ""}


def report(*packages):
    return json.dumps({"dependencies": packages, "fixes": []})


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        (report(SAFE, OURS), 0, "audit: no known vulnerabilities in 1 packages"),
        (
            report(SAFE, {"name": "h11", "version": "1.0", "vulns": [FLAW]}),
            1,
            "audit: known vulnerabilities\nh11 1.0: PYSEC-2026-1, fixed in 1.1",
        ),
        (
            report({"name": "h11", "version": "1.0", "vulns": [{**FLAW, "fix_versions": []}]}),
            1,
            "audit: known vulnerabilities\nh11 1.0: PYSEC-2026-1, not fixed yet",
        ),
        (
            report(SAFE, {"name": "h11", "skip_reason": "not found"}),
            3,
            "audit: INCOMPLETE, not in the database: h11 (exit status 3)",
        ),
        (
            report(OURS, {"name": "h11", "skip_reason": "not found"}),
            3,
            "audit: NOT DONE, no vulnerability database can be reached (exit status 3)",
        ),
        ("", 3, "audit: NOT DONE, no vulnerability database can be reached (exit status 3)"),
    ],
)
def test_audit(text, status, message):
    audit = parse(text)
    assert (audit.status, str(audit)) == (status, message)
