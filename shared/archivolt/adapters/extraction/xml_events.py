"""Reads XML as a stream of events, without ever holding a tree; entities are refused."""

from collections.abc import Mapping
from typing import IO, Final, Protocol
from xml.parsers import expat

from archivolt.domain.errors import UnsupportedContentError

_NAMESPACE_END: Final = "\x1f"
_READ_BYTES: Final = 65_536

Attributes = Mapping[str, str]


class XmlHandler(Protocol):
    """What takes the events; names come without their namespaces."""

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the start of an element."""
        ...

    def end(self, name: str) -> None:
        """Take the end of an element."""
        ...

    def text(self, text: str) -> None:
        """Take text between tags; it may come in pieces."""
        ...


def read_xml(stream: IO[bytes], handler: XmlHandler) -> None:
    """Give everything in an XML document to a handler.

    Raises:
        UnsupportedContentError: `document_broken`: it is not well-formed, or declares entities,
            which no document needs and with which a small one becomes a large one.

    """
    parser = expat.ParserCreate(namespace_separator=_NAMESPACE_END)
    parser.buffer_text = True
    parser.buffer_size = _READ_BYTES
    local = _LocalNames()

    def start(name: str, attributes: dict[str, str]) -> None:
        handler.start(local[name], _localised(attributes, local))

    def end(name: str) -> None:
        handler.end(local[name])

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = _refuse_entities
    try:
        parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise UnsupportedContentError("document_broken") from error


def _localised(attributes: Mapping[str, str], local: Mapping[str, str]) -> Attributes:
    """Return attributes by their local names; of two of one name, that of a namespace."""
    found = {local[name]: value for name, value in attributes.items()}
    if len(found) < len(attributes):
        qualified = {name: value for name, value in attributes.items() if _NAMESPACE_END in name}
        found |= {local[name]: value for name, value in qualified.items()}
    return found


def _refuse_entities(*_: object) -> None:
    raise UnsupportedContentError("document_broken")


class _LocalNames(dict[str, str]):
    """The local part of each qualified name, cut off once."""

    def __missing__(self, name: str) -> str:
        local = self[name] = name.rpartition(_NAMESPACE_END)[2]
        return local
