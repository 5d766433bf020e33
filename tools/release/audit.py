"""Check the runtime dependencies for known vulnerabilities with pip-audit.

Usage: python -m tools.release.audit

Exit status: 0 no known vulnerability, 1 vulnerabilities found, 3 no complete result, for example because no
vulnerability database can be reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from tools.release.runtime_environment import create, site_packages

VULNERABLE, UNKNOWN = 1, 3
NOT_AUDITED = {"occupair"}
"""Not on the package index before its first release."""


@dataclass(frozen=True)
class Audit:
    """Result of an audit.

    Parameters
    ----------
    audited : int
        Packages that were looked up.
    skipped : list of str
        Packages that the database does not know.
    vulnerabilities : list of str
        One line each.
    """

    audited: int
    skipped: list[str]
    vulnerabilities: list[str]

    @property
    def status(self) -> int:
        """Exit status."""
        if self.vulnerabilities:
            return VULNERABLE
        return UNKNOWN if self.skipped or not self.audited else 0

    def __str__(self) -> str:
        if self.vulnerabilities:
            return "\n".join(["audit: known vulnerabilities", *self.vulnerabilities])
        if not self.audited:
            return f"audit: NOT DONE, no vulnerability database can be reached (exit status {UNKNOWN})"
        if self.skipped:
            names = ", ".join(self.skipped)
            return f"audit: INCOMPLETE, not in the database: {names} (exit status {UNKNOWN})"
        return f"audit: no known vulnerabilities in {self.audited} packages"


def parse(report: str) -> Audit:
    """Read the JSON report of pip-audit; without one, nothing was audited."""
    try:
        packages = json.loads(report)["dependencies"]
    except (ValueError, KeyError, TypeError):
        packages = []
    skipped = [one["name"] for one in packages if "skip_reason" in one and one["name"] not in NOT_AUDITED]
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, {_fix(flaw['fix_versions'])}"
        for one in packages
        for flaw in one.get("vulns", ())
    ]
    return Audit(sum("vulns" in one for one in packages), skipped, found)


def _fix(versions: list[str]) -> str:
    return f"fixed in {', '.join(versions)}" if versions else "not fixed yet"


def main() -> None:
    folder = site_packages(create())
    command = [sys.executable, "-m", "pip_audit", "--path", str(folder), "--format", "json"]
    done = subprocess.run([*command, "--progress-spinner", "off"], capture_output=True, text=True)
    audit = parse(done.stdout)
    print(audit)
    if not done.stdout.strip() and done.stderr:  # without a report, the reason
        print(done.stderr.strip().splitlines()[-1][:300])
    raise SystemExit(audit.status)


if __name__ == "__main__":
    main()
