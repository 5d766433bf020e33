"""Write the bill of materials of the runtime dependencies, and check their licences.

Usage: python -m tools.release.sbom

Installs occupair with all extras for users in a clean environment, writes CycloneDX JSON to build/sbom/ and
the table of licences to docs/licences.md, and fails on a licence that is not accepted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from importlib.metadata import distributions
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

from tools.release.bundled import GPL_LIBRARIES, bundled_libraries
from tools.release.licence_page import PAGE, with_tables
from tools.release.licences import Licensed, licence_of, licence_problems
from tools.release.runtime_environment import FOLDER, ROOT, create, packages_by_extra, site_packages

SBOM = ROOT / "build/sbom"


def main() -> None:
    python = create()
    folder = site_packages(python)
    packages = sorted(
        (
            Licensed(one.metadata["Name"], one.version, licence_of(one))
            for one in distributions(path=[str(folder)])
        ),
        key=lambda one: canonicalize_name(one.name),
    )
    version = next(one.version for one in packages if one.name == "occupair")
    packages = [one for one in packages if one.name != "occupair"]
    libraries = bundled_libraries(folder)
    path = write_sbom(python, version, libraries)
    counts = f"{len(packages)} packages, {len(libraries)} bundled libraries"
    print(f"{path.relative_to(ROOT)}: {counts}, valid CycloneDX 1.6")
    for licence, count in Counter(one.licence for one in packages).most_common():
        print(f"  {count:3} {licence}")
    if problems := licence_problems([*packages, *libraries], GPL_LIBRARIES):
        raise SystemExit("\n".join(problems))
    PAGE.write_text(with_tables(PAGE.read_text(), packages, libraries, packages_by_extra(folder)))
    print(f"{PAGE.relative_to(ROOT)}: all licences accepted; GPL in {', '.join(GPL_LIBRARIES)} (documented)")


def write_sbom(python: Path, version: str, libraries: list[Licensed]) -> Path:
    """Write the bill of materials, with the bundled libraries inside their packages."""
    SBOM.mkdir(parents=True, exist_ok=True)
    path = SBOM / "occupair.cdx.json"
    command = [
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        "--pyproject",
        str(ROOT / "pyproject.toml"),
    ]
    options = ["--mc-type", "library", "--output-reproducible", "--of", "JSON", "-o", str(path), str(python)]
    subprocess.run([*command, *options], check=True)
    document = json.loads(path.read_text())
    document["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/occupair@{version}"}
    by_name = {canonicalize_name(one["name"]): one for one in document["components"]}
    for library in libraries:
        package = by_name[canonicalize_name(library.name.split("/")[0])]
        inside = package.setdefault("components", [])
        inside.append(
            {
                "type": "library",
                "bom-ref": f"{library.name}#{len(inside)}",
                "name": library.name.split("/")[1],
                **({"version": library.version} if library.version else {}),
                "licenses": [{"expression": library.licence}],
            }
        )
    text = json.dumps(document, indent=2, sort_keys=True) + "\n"
    if str(FOLDER) in text:
        raise SystemExit("sbom: contains a path of this machine")
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"sbom: not valid CycloneDX: {error}")
    path.write_text(text)
    return path


if __name__ == "__main__":
    main()
