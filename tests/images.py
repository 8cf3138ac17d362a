"""Images made by hand, byte by byte, and a PDF of scanned pages."""

import struct
import zlib


def png(width: int, height: int) -> bytes:
    """Return a white image."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\xff" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND")


def png_that_says(width: int, height: int) -> bytes:
    """Return an image of some bytes that says it has this size."""
    return b"\x89PNG\r\n\x1a\n" + _chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    )


def jpeg_that_says(width: int, height: int) -> bytes:
    """Return the beginning of a JPEG file of this size, with other segments before its frame."""
    comment = b"\xff\xfe\x00\x06\xff\xc0xx"
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return b"\xff\xd8\xff\xe0\x00\x04JF" + comment + b"\xff" + frame


def tiff_that_says(*sizes: tuple[int, int], order: str = "<") -> bytes:
    """Return a TIFF file of pages of these sizes, without their points."""
    out = bytearray(b"II*\0" if order == "<" else b"MM\0*")
    for width, height in sizes:
        out += struct.pack(f"{order}I", len(out) + 4)
        out += struct.pack(f"{order}H", 2)
        out += struct.pack(f"{order}HHII", 256, 4, 1, width)
        out += struct.pack(f"{order}HHIHH", 257, 3, 1, height, 0)
    return bytes(out + b"\0\0\0\0")


def tiff_without_end() -> bytes:
    """Return a TIFF file whose only page is followed by itself."""
    return tiff_that_says((1, 1))[:-4] + struct.pack("<I", 8)


def webp_that_says(width: int, height: int) -> bytes:
    """Return the beginning of a WebP file of this size."""
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + sides


def gif_that_says(width: int, height: int, *pictures: tuple[int, int]) -> bytes:
    """Return the beginning of a GIF file of this size, and of pictures of these on it."""
    screen = struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    drawn = (struct.pack("<BHHHHB", 0x2C, 0, 0, *sides, 0x80) for sides in pictures)
    extension = b"\x21\xf9\x04\x2c\x2c\x2c\x2c\0"
    return b"GIF89a" + screen + b"".join(extension + each + bytes(8) for each in drawn)


def bitmap_that_says(width: int, height: int) -> bytes:
    """Return the beginning of a BMP file of this size, from above to below."""
    return b"BM" + struct.pack("<IIIIii", 0, 0, 54, 40, width, -height)


def old_bitmap_that_says(width: int, height: int) -> bytes:
    """Return the beginning of a BMP file of this size, in the form of OS/2."""
    return b"BM" + struct.pack("<IIIIHH", 0, 0, 26, 12, width, height)


def scanned_pdf(pages: int, *, stamp: str = "") -> bytes:
    """Return a PDF whose pages are one image each, with a stamp as text."""
    gray = zlib.compress(b"\xff" * 100 * 140)
    image = (
        b"<< /Type /XObject /Subtype /Image /Width 100 /Height 140 /ColorSpace /DeviceGray"
        b" /BitsPerComponent 8 /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream"
        % (len(gray), gray)
    )
    text = f"BT /F1 10 Tf 50 780 Td ({stamp}) Tj ET" if stamp else ""
    drawn = f"q 600 0 0 800 0 0 cm /I Do Q {text}".encode()
    content = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn)
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    kids = b" ".join(b"%d 0 R" % (6 + number) for number in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 5 0 R"
        b" /Resources << /XObject << /I 4 0 R >> /Font << /F1 3 0 R >> >> >>"
    )
    tree = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, pages)
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", tree, font, image, content, *[page] * pages]
    return _pdf(objects)


def _pdf(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\n" % (len(places) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def _chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
