"""Uploaded images: PNG, and SVG that contains drawings only.

An SVG document can contain scripts and load other files. Both are rejected here, by lists of what is allowed.
Images are also served with ``IMAGE_POLICY``, and shown as ``<img>``, where no script runs.
"""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from occupair.errors import InputError

SVG, PNG = "image/svg+xml", "image/png"
IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
"""Content security policy of an uploaded image that is opened on its own: no script, no origin."""
MAX_SIDE, MAX_PIXELS = 20_000, 40_000_000
"""Largest side [px] and area [px] of a PNG; a small file can unpack to a huge picture."""
MAX_ELEMENTS, MAX_DEPTH = 500_000, 200
"""Most elements of an SVG document, those repeated by <use> counted each time, and their deepest nesting."""

_PNG_START = b"\x89PNG\r\n\x1a\n"
_SVG_SPACE = "http://www.w3.org/2000/svg"
_ELEMENTS = frozenset({
    "svg", "g", "defs", "symbol", "use", "title", "desc", "metadata", "style", "switch", "view", "path",
    "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "textPath", "image",
    "marker", "pattern", "clipPath", "mask", "linearGradient", "radialGradient", "stop", "filter",
    "feGaussianBlur", "feOffset", "feMerge", "feMergeNode", "feBlend", "feColorMatrix", "feComposite",
    "feFlood",
})  # fmt: skip
_EDITOR_SPACES = (  # elements that a browser ignores
    "http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd",
    "http://www.inkscape.org/namespaces/inkscape",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://creativecommons.org/ns#",
    "http://web.resource.org/cc/",
    "http://purl.org/dc/elements/1.1/",
)
_LINKS = ("href", "src", "base")
_EMBEDDED = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)
_CSS_ACTIVE = re.compile(
    r"\\|@import|image-set|javascript:|expression\s*\(|(?<![\w-])src\s*\(|url\s*\((?!\s*[\"']?#)",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(px|pt|pc|mm|cm|in|em|ex)?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Image:
    """Type and size of an image; of an SVG only the ratio of width and height matters."""

    media_type: str
    width: float
    height: float


def check_image(data: bytes, media_type: str) -> Image:
    """Return the type and size of an image, or raise an InputError that starts with what is wrong.

    Parameters
    ----------
    data : bytes
        Content of the file.
    media_type : {"image/svg+xml", "image/png"}
        What it is said to be.

    Examples
    --------
    >>> check_image(b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"/>', SVG)
    Image(media_type='image/svg+xml', width=40.0, height=30.0)
    """
    return _check_png(data) if media_type == PNG else _check_svg(data)


# ---- PNG ----


def _check_png(data: bytes) -> Image:
    if not data.startswith(_PNG_START):
        raise InputError("is not a PNG image")
    names, at = [], len(_PNG_START)
    while at + 12 <= len(data):
        (length,), name = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        checksum = data[at + 8 + length : at + 12 + length]
        if len(checksum) < 4 or zlib.crc32(name + body) != struct.unpack(">I", checksum)[0]:
            raise InputError("is a damaged PNG image")
        names.append(name)
        at += 12 + length
        if name == b"IEND":
            break
    if names[:1] != [b"IHDR"] or names[-1:] != [b"IEND"] or b"IDAT" not in names or at != len(data):
        raise InputError("is a damaged PNG image")
    width, height = struct.unpack(">II", data[16:24])
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        rule = f"at most {MAX_SIDE:,} pixels wide and high, and have at most {MAX_PIXELS:,} pixels"
        raise InputError(f"must be {rule}, got {width} x {height}")
    return Image(PNG, float(width), float(height))


# ---- SVG ----


@dataclass
class _Element:
    """An element, as far as repetition by <use> and style sheets need it."""

    name: str
    uses: list[str] = field(default_factory=list)  # ids of the elements that it repeats
    children: list[_Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)  # of a style sheet


class _SvgChecker:
    """Handlers of an XML parser that reject whatever is not a drawing."""

    def __init__(self) -> None:
        self.size: tuple[float, float] | None = None
        self.by_id: dict[str, _Element] = {}
        self.root: _Element | None = None
        self.open: list[_Element] = []
        self.count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if self.root is None and (space, local) != (_SVG_SPACE, "svg"):
            raise InputError("is not an SVG image")
        if space == _SVG_SPACE and local not in _ELEMENTS:
            raise InputError(f"must not contain <{local[:40]}>: export it as plain SVG")
        if space not in (_SVG_SPACE, *_EDITOR_SPACES):
            raise InputError(f"must not contain <{local[:40]}> of another format: export it as plain SVG")
        element = _Element(local)
        for key, value in attributes.items():
            self._check_attribute(element, *key.rpartition(" ")[::2], value)
        if self.root is None:
            self.root, self.size = element, _svg_size(attributes)
        else:
            self.open[-1].children.append(element)
        self.open.append(element)
        self.count += 1
        if len(self.open) > MAX_DEPTH or self.count > MAX_ELEMENTS:
            raise InputError("is too complex: simplify the drawing, or export it as PNG")

    def _check_attribute(self, element: _Element, space: str, key: str, value: str) -> None:
        name = key.lower()
        if name.startswith("on"):
            raise InputError(f"must not contain the script attribute {key[:40]}: export it as plain SVG")
        if name in _LINKS and not value.strip().startswith("#"):
            if element.name != "image" or name != "href" or not _EMBEDDED.fullmatch(value.strip()):
                raise InputError(f"must not refer to other files, got {key[:40]}={value[:40]!r}")
        elif name in _LINKS and element.name == "use":
            element.uses.append(value.strip()[1:])  # href, or xlink:href, or both
        elif name == "id":
            self.by_id.setdefault(value, element)
        if not space and name not in _LINKS and not name.startswith(("data-", "aria-")):
            _check_css(value)  # any of them may be a property

    def end(self, name: str) -> None:
        element = self.open.pop()
        if element.name == "style":
            _check_css("".join(element.text))

    def text(self, text: str) -> None:
        if self.open and self.open[-1].name == "style":
            self.open[-1].text.append(text)  # a browser joins the texts around inner elements

    def refuse(self, *_: object) -> None:
        rule = "a DOCTYPE, entities or processing instructions"
        raise InputError(f"must not contain {rule}: export it as plain SVG")

    def expanded(self) -> int:
        """Return the number of elements with all repetitions, or raise an InputError for a circle."""
        known: dict[int, int] = {}
        active: set[int] = set()

        def size(element: _Element) -> int:
            key = id(element)
            if key in active:
                raise InputError("must not repeat an element within itself")
            if key not in known:
                active.add(key)
                total = 1 + sum(size(child) for child in element.children)
                total += sum(size(self.by_id[one]) for one in element.uses if one in self.by_id)
                active.discard(key)
                known[key] = min(total, MAX_ELEMENTS + 1)
            return known[key]

        assert self.root is not None
        return size(self.root)


def _check_css(text: str) -> None:
    found = _CSS_ACTIVE.search(text)
    if found:
        raise InputError(f"must not refer to other files in styles, got {text[found.start() :][:40]!r}")


def _check_svg(data: bytes) -> Image:
    checker = _SvgChecker()
    parser = expat.ParserCreate("utf-8", namespace_separator=" ")  # served as UTF-8, whatever it declares
    parser.StartElementHandler = checker.start
    parser.EndElementHandler = checker.end
    parser.CharacterDataHandler = checker.text
    parser.StartDoctypeDeclHandler = checker.refuse
    parser.EntityDeclHandler = checker.refuse
    parser.ProcessingInstructionHandler = checker.refuse
    try:
        parser.Parse(_decode(data), True)
        complete = checker.expanded()
    except (expat.ExpatError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is not an SVG image in UTF-8: {error}") from None
    except RecursionError:
        raise InputError("is too complex: simplify the drawing, or export it as PNG") from None
    if complete > MAX_ELEMENTS:
        raise InputError("is too complex: simplify the drawing, or export it as PNG")
    if checker.size is None:
        raise InputError("must have a viewBox, or a width and a height")
    return Image(SVG, *checker.size)


def _decode(data: bytes) -> str:
    """Decode UTF-8. Without null characters, so that no reader takes it for UTF-16."""
    text = data.decode("utf-8")
    if "\0" in text:
        raise ValueError("null characters")
    return text


def _svg_size(attributes: dict[str, str]) -> tuple[float, float] | None:
    """Return width and height of the root element, else those of its viewBox; None if it has neither."""
    lengths = [_LENGTH.fullmatch(attributes.get(name, "")) for name in ("width", "height")]
    if all(lengths) and lengths[0] and lengths[1] and lengths[0][2] == lengths[1][2]:
        sides = [float(one[1]) for one in lengths if one]
    else:
        sides = _numbers(attributes.get("viewBox", ""))[2:]
    if len(sides) != 2 or not all(0 < side < 1e9 for side in sides):
        return None
    return sides[0], sides[1]


def _numbers(text: str) -> list[float]:
    """Return the four numbers of a viewBox, or nothing."""
    words = text.replace(",", " ").split()
    try:
        return [float(word) for word in words] if len(words) == 4 else []
    except ValueError:
        return []
