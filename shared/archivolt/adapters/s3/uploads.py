"""Addresses to which a browser or a script sends one file, straight to the bucket.

The signature covers size, type and the condition that the file is new: S3 refuses an upload that
differs in any of them, and one that comes too late. Who holds the address needs no other right.
"""

from datetime import timedelta

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.s3.objects import Bucket, object_key
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import UploadForm, VaultRef
from archivolt.ports.clock import Clock


def upload_form(
    bucket: Bucket,
    clock: Clock,
    vault: VaultRef,
    path: VaultPath,
    *,
    size: int,
    content_type: str,
    seconds: int,
) -> UploadForm:
    """Return how to upload one file of exactly `size` bytes."""
    expires_at = clock.now() + timedelta(seconds=seconds)
    with translated():
        url = bucket.client.generate_presigned_url(
            "put_object",
            Params={
                "Bucket": bucket.name,
                "Key": object_key(vault, path),
                "ContentLength": size,
                "ContentType": content_type,
                "IfNoneMatch": "*",
            },
            ExpiresIn=seconds,
        )
    headers = {"Content-Length": str(size), "Content-Type": content_type, "If-None-Match": "*"}
    return UploadForm(url=url, method="PUT", headers=headers, expires_at=expires_at)
