"""The images a person shows: pasted as data URLs, or files of a vault (O77).

Only what is here is shown: an address of the web would have the provider fetch it for us.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from archivolt.chat.providers import ChosenModel
from archivolt.chat.scope import Vaults
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, TooLargeError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_IMAGE_BYTES, MAX_MESSAGE_IMAGES
from archivolt.domain.paths import VaultPath, resolve_path
from archivolt.domain.providers import takes_gif
from archivolt.domain.tool import JsonObject
from archivolt.domain.vault import FileContent, VaultAccess
from archivolt.domain.vault_addresses import read_address
from archivolt.ports.chat_model import ModelImage
from archivolt.vaults.content_types import content_type_of, is_image

_DATA_URL: Final = re.compile(r"data:[\w./+-]{1,100}(?:;[\w=.-]{1,50})*;base64,", re.ASCII)
_VAULT: Final = "vault://"
_GIF: Final = "image/gif"
# Of an image nothing was read, or words that stand in it.
_MAY_BE_IMAGE: Final = frozenset(
    {
        *("document_not_read_yet", "document_without_text", "file_not_text", "ocr_needed"),
        *("unavailable", "unsupported_format"),
    }
)


class Files(Protocol):
    """Reads a person's own files."""

    def read_bytes(
        self, access: VaultAccess, path: VaultPath, *, limit: int | None = None
    ) -> FileContent:
        """Return a file's bytes, or raise `file_not_found`."""
        ...


class ImageReader:
    """Reads images with the rights of the person who shows them."""

    def __init__(self, vaults: Vaults, files: Files) -> None:
        self._vaults = vaults
        self._files = files

    def read(
        self, principal: Principal, addresses: Sequence[str], *, gif: bool
    ) -> tuple[ModelImage, ...]:
        """Return the images at these addresses: `data:…;base64,…` or `vault://…`.

        `gif`: whether whoever is shown them takes GIF.

        Raises:
            InvalidRequestError: `image_unusable`: another address, or no image that is taken;
                `invalid_path`.
            TooLargeError: `image_too_large`.
            NotFoundError: `vault_not_found`, `file_not_found`.

        """
        if len(addresses) > MAX_MESSAGE_IMAGES:
            raise InvalidRequestError("image_unusable", reason="images_too_many")
        return tuple(_image(self._bytes(principal, address), gif=gif) for address in addresses)

    def shown(
        self,
        principal: Principal,
        addresses: Sequence[str],
        scope: JsonObject | None,
        model: ChosenModel,
    ) -> tuple[JsonObject | None, tuple[ModelImage, ...]]:
        """Return the images a person shows, and for a model that sees those in the scope too.

        The scope that comes back says which; what cannot be shown stays unread in it.

        Raises:
            InvalidRequestError, TooLargeError, NotFoundError: As `read`, of the addresses alone.

        """
        gif = takes_gif(model.provider)
        images = list(self.read(principal, addresses, gif=gif))
        if not (scope and model.sees):
            return scope, tuple(images)
        documents: list[JsonObject] = []
        for document in scope["documents"]:
            found: tuple[ModelImage, ...] = ()
            if _may_be_image(document) and len(images) < MAX_MESSAGE_IMAGES:
                with suppress(ArchivoltError):
                    found = self.read(principal, [document["uri"]], gif=gif)
            images += found
            shown = {} if "content" in document else {"unread": "shown_as_image"}
            documents.append(document | shown if found else document)
        return scope | {"documents": documents}, tuple(images)

    def _bytes(self, principal: Principal, address: str) -> bytes:
        pasted = _DATA_URL.match(address)
        if pasted:
            return _decoded(address[pasted.end() :])
        if not is_of_a_vault(address):
            raise InvalidRequestError("image_unusable", reason="image_address")
        try:
            place = read_address(address)
        except ValueError as error:
            raise InvalidRequestError("image_unusable", reason="image_address") from error
        path = resolve_path(place.path)
        access = self._vaults.access(principal, place.vault)
        return self._files.read_bytes(access, path, limit=MAX_IMAGE_BYTES + 1).data


def is_of_a_vault(address: str) -> bool:
    """Tell whether an image is a document of a vault, not something that a person pasted."""
    return address.startswith(_VAULT)


def _may_be_image(document: JsonObject) -> bool:
    unread = document.get("unread", "")
    return unread in _MAY_BE_IMAGE if unread else is_image(content_type_of(document["path"]))


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError("image_unusable", reason="image_damaged") from error


def _image(data: bytes, *, gif: bool) -> ModelImage:
    """Return the image; what it is, its first bytes tell, whatever was said of it."""
    if len(data) > MAX_IMAGE_BYTES:
        raise TooLargeError("image_too_large", limit=MAX_IMAGE_BYTES)
    media_type = _media_type(data)
    if not media_type:
        raise InvalidRequestError("image_unusable", reason="image_kind")
    if media_type == _GIF and not gif:
        raise InvalidRequestError("image_unusable", reason="image_gif")
    return ModelImage(media_type=media_type, data=base64.b64encode(data).decode())


def _media_type(data: bytes) -> str:
    """Return the kind of an image that providers take, "" for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _GIF
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""
