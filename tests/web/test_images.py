"""Uploaded images: PNG by its structure, SVG by lists of what a drawing may contain."""

import struct
import zlib

import pytest

from occupair.errors import InputError
from occupair.web.images import PNG, SVG, check_image

XMLNS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def svg(content, attributes='viewBox="0 0 40 30"', before=""):
    return f"{before}<svg {XMLNS} {attributes}>{content}</svg>".encode()


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width, height, *, data=b"", end=b""):
    """Write a grey PNG image as in the PNG specification, 11.2."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(data or bytes((width + 1) * height))
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + end


def test_png_has_its_size():
    image = check_image(png(40, 30), PNG)
    assert (image.media_type, image.width, image.height) == (PNG, 40, 30)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a PNG image"),
        (b"GIF89a", "is not a PNG image"),
        (svg(""), "is not a PNG image"),
        (png(40, 30)[:-1], "is a damaged PNG image"),
        (png(40, 30)[:20], "is a damaged PNG image"),
        (png(40, 30)[:40] + b"?" + png(40, 30)[41:], "is a damaged PNG image"),
        (png(40, 30, end=b"<script>"), "is a damaged PNG image"),
        (png(0, 30), "must be at most 20,000 pixels wide and high.*got 0 x 30"),
        (png(20_001, 1), "must be at most 20,000 pixels wide and high.*got 20001 x 1"),
        (png(10_000, 10_000, data=b"0"), "must be .* at most 40,000,000 pixels, got 10000 x 10000"),
    ],
)
def test_other_png_is_rejected(data, message):
    with pytest.raises(InputError, match=f"^{message}"):
        check_image(data, PNG)


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('viewBox="0 0 40 30"', (40, 30)),
        ('viewBox="-5,-5,40.5,30"', (40.5, 30)),
        ('width="800" height="600"', (800, 600)),
        ('width="80mm" height="60mm" viewBox="0 0 1 1"', (80, 60)),
        ('width="100%" height="100%" viewBox="0 0 40 30"', (40, 30)),
        ('width="800px" height="60mm" viewBox="0 0 40 30"', (40, 30)),
    ],
)
def test_svg_has_the_ratio_of_its_sides(attributes, size):
    image = check_image(svg("<rect width='1' height='1'/>", attributes), SVG)
    assert (image.width, image.height) == size


def test_drawing_of_an_editor_is_accepted():
    inkscape = 'xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" viewBox="0 0 9 9"'
    content = (
        '<defs><style>.wall { fill: url(#p); stroke: #000 }</style><pattern id="p"/><g id="door"/></defs>'
        '<g inkscape:label="C:\\plan" style="fill:url(\'#p\');stroke:none" data-name="C:\\x">'
        '<path d="M0 0h1"/><text x="1">Lab &amp; Büro</text><use xlink:href="#door"/><use href="#door"/></g>'
        '<image href="data:image/png;base64,iVBORw0KGgo="/><inkscape:grid/>'
    )
    data = svg(content, inkscape, before='<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- x -->')
    assert check_image(data, SVG).width == 9


ENTITY = '<!DOCTYPE svg [<!ENTITY a "x">]>'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not an SVG image in UTF-8"),
        (png(4, 4), "is not an SVG image in UTF-8"),
        (b"<html/>", "is not an SVG image"),
        (b"<svg/>", "is not an SVG image"),
        (svg("<g>"), "is not an SVG image in UTF-8"),
        (svg("é").decode().encode("latin-1"), "is not an SVG image in UTF-8"),
        (svg("x").decode().encode("utf-16"), "is not an SVG image in UTF-8"),
        (svg("x").decode().encode("utf-16-le"), "is not an SVG image in UTF-8"),
        (svg("", before=ENTITY), "must not contain a DOCTYPE, entities"),
        (svg("", before='<!DOCTYPE svg SYSTEM "http://evil/x.dtd">'), "must not contain a DOCTYPE, entities"),
        (svg("&a;", before=ENTITY), "must not contain a DOCTYPE, entities"),
        (
            svg("", before='<?xml-stylesheet href="http://evil/x.css"?>'),
            "must not contain a DOCTYPE, entities",
        ),
        (svg("<script>alert(1)</script>"), "must not contain <script>"),
        (svg("<SCRIPT/>"), "must not contain <SCRIPT>"),
        (svg("<foreignObject><p/></foreignObject>"), "must not contain <foreignObject>"),
        (svg('<a href="#x"/>'), "must not contain <a>"),
        (svg('<set attributeName="href" to="javascript:x"/>'), "must not contain <set>"),
        (svg('<animate attributeName="href" values="x"/>'), "must not contain <animate>"),
        (svg('<iframe src="x"/>'), "must not contain <iframe>"),
        (svg('<feImage href="#x"/>'), "must not contain <feImage>"),
        (svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>'), "must not contain <script> of another"),
        (svg('<script xmlns="http://www.w3.org/1999/xhtml"/>'), "must not contain <script> of another"),
        (svg('<script xmlns=""/>'), "must not contain <script> of another"),
        (svg("", 'viewBox="0 0 4 3" onload="alert(1)"'), "must not contain the script attribute onload"),
        (svg('<g ONclick="x"/>'), "must not contain the script attribute ONclick"),
        (svg('<use href="http://evil/x.svg#a"/>'), "must not refer to other files, got href='http://evil/"),
        (svg('<use xlink:href="x.svg#a"/>'), "must not refer to other files, got href='x.svg#a'"),
        (svg('<use href="data:image/png;base64,AA"/>'), "must not refer to other files"),
        (svg('<image href="//evil/x.png"/>'), "must not refer to other files"),
        (svg('<image href=" javascript:alert(1)"/>'), "must not refer to other files"),
        (svg('<image href="data:image/svg+xml;base64,AA"/>'), "must not refer to other files"),
        (svg('<image href="data:text/html,x"/>'), "must not refer to other files"),
        (svg('<g xml:base="http://evil/"/>'), "must not refer to other files"),
        (svg("<style>@import 'x.css';</style>"), "must not refer to other files in styles"),
        (svg("<style>@im<style/>port 'x.css';</style>"), "must not refer to other files in styles"),
        (svg("<style>a { fill: u\\72l(x) }</style>"), "must not refer to other files in styles"),
        (svg("<style>a { src: url('http://evil/f') }</style>"), "must not refer to other files in styles"),
        (
            svg("<style><![CDATA[a { fill: URL( x.svg#a) }]]></style>"),
            "must not refer to other files in styles",
        ),
        (svg("<g style=\"background: image-set('x' 1x)\"/>"), "must not refer to other files in styles"),
        (svg('<g fill="url(//evil/x.svg#a)"/>'), "must not refer to other files in styles"),
        (svg("", ""), "must have a viewBox, or a width and a height"),
        (svg("", 'viewBox="0 0 0 30"'), "must have a viewBox, or a width and a height"),
        (svg("", 'viewBox="0 0 nan inf"'), "must have a viewBox, or a width and a height"),
        (svg("<g>" * 300 + "</g>" * 300), "is too complex"),
        (svg('<g id="a"><use href="#a"/></g>'), "must not repeat an element within itself"),
    ],
)
def test_svg_that_is_not_only_a_drawing_is_rejected(data, message):
    with pytest.raises(InputError, match=f"^{message}"):
        check_image(data, SVG)


def test_repeated_repetitions_are_rejected():
    """Ten elements that repeat the one before ten times: 10^10 elements on the screen."""
    uses = ["<path/>", *(f'<use href="#a{k}"/>' * 10 for k in range(10))]
    levels = [f'<g id="a{k}">{content}</g>' for k, content in enumerate(uses)]
    with pytest.raises(InputError, match=r"^is too complex"):
        check_image(svg("".join(levels)), SVG)
    chain = "".join(f'<use id="b{k}" href="#b{k + 1}"/>' for k in range(20_000))
    with pytest.raises(InputError, match=r"^is too complex"):
        check_image(svg(chain), SVG)
    both = "".join(levels).replace('"/>', '" xlink:href="#none"/>')
    with pytest.raises(InputError, match=r"^is too complex"):
        check_image(svg(both), SVG)
