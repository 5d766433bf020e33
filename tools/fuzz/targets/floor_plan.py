"""Floor plans: SVG and PNG."""

from __future__ import annotations

import struct
import zlib
from random import Random

from occupair.web.images import PNG, SVG, check_image
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.trial import check

_SVGS = (
    b"""<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="40mm" height="30mm" viewBox="0 0 40 30">
<defs><g id="a"><path d="M0 0L1 1"/></g></defs><use href="#a"/><style>path{fill:#fff}</style>
<text x="1">Lab</text></svg>""",
    b"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
viewBox="0 0 40 30">
<symbol id="s"><rect width="1" height="2" style="fill:url(#g)"/></symbol><use xlink:href="#s"/>
<image href="data:image/png;base64,AAAA"/></svg>""",
    b"""<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"
xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape"><inkscape:grid/>
<g><g id="b"><use href="#c"/></g></g><g id="c"/></svg>""",
)
_WORDS = (
    b"<g>", b"</g>", b"<svg>", b"</svg>", b'<use href="#a"/>', b'<g id="a">', b"<script/>", b"<!DOCTYPE svg>",
    b"<![CDATA[", b"]]>", b"<?x?>", b"<!--", b"-->", b"&amp;", b"&#x0;", b"&x;", b' onload="x"',
    b' href="http://x"', b' width="1e400"', b' viewBox="0 0 nan inf"', b' viewBox="0 0 1e999 1"',
    b' xmlns=""', b' xmlns:a="b"', b'encoding="utf-16"', b"url(x)", b"<foreignObject>", b"<style>",
    b"</style>", b"@import", b"\\", b' id="a"', b"<g>" * 250, b"<g/>" * 50, b'height="0"',
)  # fmt: skip


def generate(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.04:
        return random_bytes(random, _WORDS)
    if chance < 0.65:
        return mutate_bytes(random.choice(_SVGS), random, _WORDS)
    return _png(random)


def _png(random: Random) -> bytes:
    sides = [random.choice((0, 1, 4, 30, 20_000, 20_001, 2**31, 2**32 - 1)) for _ in range(2)]
    header = struct.pack(">II", *sides) + bytes([8, random.choice((0, 2, 6, 9)), 0, 0, 0])
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 20)), (b"IEND", b"")]
    if random.random() < 0.3:
        chunks.insert(random.randrange(4), (random.choice((b"tEXt", b"IDAT", b"IEND", b"acTL")), b"a\0b"))
    if random.random() < 0.3:
        random.shuffle(chunks)
    if random.random() < 0.2:
        chunks[0] = (chunks[0][0], mutate_bytes(chunks[0][1], random))
    data = b"\x89PNG\r\n\x1a\n"
    for name, body in chunks:
        data += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return mutate_bytes(data, random) if random.random() < 0.4 else data


def run(data: bytes) -> None:
    found = check_image(data, PNG if data.startswith(b"\x89") else SVG)
    check(0 < found.width < 1e9 and 0 < found.height < 1e9, "image must have a size")
    lower = data.lower()
    check(found.media_type == PNG or b"<script" not in lower or b"<!--" in lower or b"cdata" in lower,
          "accepted SVG must have no script")  # fmt: skip
