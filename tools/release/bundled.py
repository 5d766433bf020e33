"""Shared libraries inside the wheels of dependencies, whose licence may differ from that of the package.

auditwheel and delocate copy them to folders such as ``av.libs``, with a hash in the file name. Their licences
are those of their projects; a library that is not in the table fails `make sbom`.
"""

from __future__ import annotations

import re
from pathlib import Path

from packaging.utils import canonicalize_name

from tools.release.licences import Licensed

_GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
_GNU = "LGPL-3.0-or-later OR GPL-2.0-or-later"
LIBRARIES = {
    "SvtAv1Enc": "BSD-3-Clause-Clear",
    "Xau": "X11",
    "aom": "BSD-2-Clause",
    "asound": "LGPL-2.1-or-later",
    "avcodec": "LGPL-2.1-or-later",
    "avdevice": "LGPL-2.1-or-later",
    "avfilter": "LGPL-2.1-or-later",
    "avformat": "LGPL-2.1-or-later",
    "avif": "BSD-2-Clause",
    "avutil": "LGPL-2.1-or-later",
    "com_err": "MIT",
    "crypt": "LGPL-2.1-or-later",
    "crypto": "Apache-2.0",
    "dav1d": "BSD-2-Clause",
    "drm": "MIT",
    "gfortran": _GCC,
    "gmp": _GNU,
    "gnutls": "LGPL-2.1-or-later",
    "gomp": _GCC,
    "gssapi_krb5": "MIT",
    "hogweed": _GNU,
    "k5crypto": "MIT",
    "keyutils": "LGPL-2.1-or-later",
    "krb5": "MIT",
    "krb5support": "MIT",
    "lber": "OLDAP-2.8",
    "ldap": "OLDAP-2.8",
    "mp3lame": "LGPL-2.0-or-later",
    "nettle": _GNU,
    "openblasp-r0": "BSD-3-Clause",
    "opencore-amrnb": "Apache-2.0",
    "opencore-amrwb": "Apache-2.0",
    "opus": "BSD-3-Clause",
    "png16": "libpng-2.0",
    "pq": "PostgreSQL",
    "quadmath": "LGPL-2.1-or-later",
    "sasl2": "BSD-3-Clause-Attribution",
    "scipy_openblas": "BSD-3-Clause",
    "scipy_openblas64_": "BSD-3-Clause",
    "sharpyuv": "BSD-3-Clause",
    "ssl": "Apache-2.0",
    "swresample": "LGPL-2.1-or-later",
    "swscale": "LGPL-2.1-or-later",
    "unistring": _GNU,
    "vpl": "MIT",
    "vpx": "BSD-3-Clause",
    "webp": "BSD-3-Clause",
    "webpmux": "BSD-3-Clause",
    "x264": "GPL-2.0-or-later",
    "x265": "GPL-2.0-or-later",
    "xcb": "X11",
    "xcb-shape": "X11",
    "xcb-shm": "X11",
    "xcb-xfixes": "X11",
}
"""Licence by name of the library."""
OLD_OPENSSL = re.compile(r"lib(crypto|ssl)-\w+\.so\.1\.")
"""OpenSSL before 3.0 has its own licence."""
GPL_LIBRARIES = {"av/libx264": "GPL-2.0-or-later", "av/libx265": "GPL-2.0-or-later"}
"""Documented exceptions in docs/licences.md, by package and library."""
GPL_EXTRAS = {"video"}
"""Extras with these libraries, which no image or app that we publish installs."""
_FILE = re.compile(r"lib(?P<name>.+?)(-[0-9a-f]{8})+(?P<tail>.*\.(so|dylib|dll).*|\.\d.*)")


def bundled_libraries(site_packages: Path) -> list[Licensed]:
    """Return the shared libraries in the wheels of an environment as ``package/libname``."""
    found = []
    for path in sorted(site_packages.glob("*.libs/*")) + sorted(site_packages.glob("*/.dylibs/*")):
        package = path.parent.name.removesuffix(".libs") if path.parent.suffix else path.parent.parent.name
        match = _FILE.fullmatch(path.name)
        name = match["name"] if match else path.name.removeprefix("lib").split(".")[0]
        licence = "OpenSSL" if OLD_OPENSSL.match(path.name) else LIBRARIES.get(name, "unknown")
        version = version_in(match["tail"]) if match else ""
        found.append(Licensed(f"{canonicalize_name(package)}/lib{name}", version, licence))
    return found


def version_in(tail: str) -> str:
    """Return the version at the end of the name of a library, or ""."""
    match = re.search(r"\.so\.([\w.]+)$|^\.([\d.]+)\.so$", tail)
    return (match[1] or match[2]) if match else ""
