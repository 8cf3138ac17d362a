"""What every `FileStore` promises."""

from typing import TYPE_CHECKING

import pytest

from archivolt.adapters.s3.files import S3Files
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import ROOT, VaultPath, resolve_path
from archivolt.domain.vault import ETag, FileInfo, VaultRef
from archivolt.ports.files import FileStore
from tests.builders import GLOBEX, vault_ref
from tests.contract.conftest import REGION
from tests.fakes.clock import FrozenClock

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

BUCKET = "documents"
VAULT = vault_ref()
NOTE = VaultPath("notes/idea.md")


@pytest.fixture
def bucket(moto_s3: "S3Client") -> "S3Client":
    moto_s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    moto_s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return moto_s3


@pytest.fixture
def s3_files(bucket: "S3Client") -> S3Files:
    return S3Files(bucket, BUCKET, FrozenClock())


def put(files: FileStore, *paths: str, vault: VaultRef = VAULT) -> None:
    for path in paths:
        files.create(vault, VaultPath(path), path.encode())


def paths_of(files: FileStore, directory: str = "", *, limit: int = 1_000) -> list[str]:
    listing = files.list(VAULT, VaultPath(directory), recursive=True, limit=limit)
    return [info.path for info in listing.files]


def test_a_new_file_is_read_back(files: FileStore) -> None:
    created = files.create(VAULT, NOTE, "été\r\n".encode(), content_type="text/markdown")

    content = files.read(VAULT, NOTE)
    assert content.data == "été\r\n".encode()
    assert not content.truncated
    for info in (created, content.info, files.head(VAULT, NOTE)):
        assert (info.path, info.size, info.etag) == (NOTE, 7, created.etag)
        assert (info.content_type, info.version) == ("text/markdown", created.version)
    assert created.version
    assert '"' not in created.etag


def test_an_absent_file_is_not_found(files: FileStore) -> None:
    put(files, "notes/other.md")

    for look in (files.head, files.read):
        for path in (NOTE, VaultPath("notes")):
            with pytest.raises(NotFoundError) as refused:
                look(VAULT, path)
            assert refused.value.code == "file_not_found"


def test_vaults_and_tenants_are_apart(files: FileStore) -> None:
    put(files, NOTE)

    for other in (vault_ref("v"), vault_ref("v11"), vault_ref(tenant=GLOBEX)):
        with pytest.raises(NotFoundError):
            files.read(other, NOTE)
        assert files.list(other, ROOT, recursive=True, limit=10).files == []


def test_an_existing_file_is_not_created_again(files: FileStore) -> None:
    files.create(VAULT, NOTE, b"first")

    with pytest.raises(ConflictError) as refused:
        files.create(VAULT, NOTE, b"second")

    assert (refused.value.code, refused.value.details) == ("file_exists", {"path": NOTE})
    assert files.read(VAULT, NOTE).data == b"first"


def test_a_new_version_replaces_the_one_that_was_read(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first")

    second = files.replace(VAULT, NOTE, b"second", expected=first.etag, content_type="text/plain")

    assert files.read(VAULT, NOTE).data == b"second"
    assert files.head(VAULT, NOTE).content_type == "text/plain"
    assert (second.size, second.etag == first.etag) == (6, False)
    assert second.version != first.version


def test_a_version_that_is_not_current_is_not_replaced(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first")
    files.replace(VAULT, NOTE, b"second", expected=first.etag)

    with pytest.raises(ConflictError) as refused:
        files.replace(VAULT, NOTE, b"third", expected=first.etag)

    assert refused.value.code == "conflict"
    assert files.read(VAULT, NOTE).data == b"second"


def test_a_file_that_is_gone_is_not_replaced(files: FileStore) -> None:
    etag = files.create(VAULT, NOTE, b"first").etag
    files.delete(VAULT, NOTE, expected=etag)

    for path in (NOTE, VaultPath("never.md")):
        with pytest.raises(ConflictError) as refused:
            files.replace(VAULT, path, b"second", expected=etag)
        assert refused.value.code == "conflict"
        with pytest.raises(NotFoundError):
            files.head(VAULT, path)


def test_a_deleted_file_is_gone_and_its_name_free(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first")

    files.delete(VAULT, NOTE, expected=first.etag)

    with pytest.raises(NotFoundError):
        files.read(VAULT, NOTE)
    assert paths_of(files) == []
    files.create(VAULT, NOTE, b"second")
    assert files.read(VAULT, NOTE).data == b"second"


def test_only_the_version_that_was_read_is_deleted(files: FileStore) -> None:
    files.create(VAULT, NOTE, b"first")

    with pytest.raises(ConflictError) as refused:
        files.delete(VAULT, NOTE, expected=ETag("0" * 32))

    assert refused.value.code == "conflict"
    assert files.read(VAULT, NOTE).data == b"first"


def test_what_is_absent_cannot_be_deleted(files: FileStore) -> None:
    etag = files.create(VAULT, NOTE, b"first").etag
    files.delete(VAULT, NOTE, expected=etag)

    for path in (NOTE, VaultPath("never.md")):
        with pytest.raises(NotFoundError) as refused:
            files.delete(VAULT, path, expected=etag)
        assert refused.value.code == "file_not_found"


@pytest.mark.parametrize(
    ("offset", "max_bytes", "data", "truncated"),
    [
        (0, None, b"0123456789", False),
        (0, 4, b"0123", True),
        (4, 3, b"456", True),
        (7, 3, b"789", False),
        (7, 100, b"789", False),
        (9, None, b"9", False),
        (10, None, b"", False),
        (10, 5, b"", False),
        (99, 5, b"", False),
        (3, 0, b"", True),
        (10, 0, b"", False),
    ],
)
def test_a_part_of_a_file_is_read(
    files: FileStore, offset: int, max_bytes: int | None, data: bytes, truncated: bool
) -> None:
    files.create(VAULT, NOTE, b"0123456789")

    content = files.read(VAULT, NOTE, offset=offset, max_bytes=max_bytes)

    assert (content.data, content.truncated, content.info.size) == (data, truncated, 10)


@pytest.mark.parametrize("max_bytes", [None, 0, 5])
def test_an_empty_file_is_read(files: FileStore, max_bytes: int | None) -> None:
    files.create(VAULT, NOTE, b"")

    content = files.read(VAULT, NOTE, max_bytes=max_bytes)

    assert (content.data, content.truncated, content.info.size) == (b"", False, 0)


def test_a_directory_lists_its_files_and_its_direct_directories(files: FileStore) -> None:
    put(files, "a.md", "notes/b.md", "notes/deep/c.md", "notes/deep/d.md", "notes.md", "notes2/e")

    root = files.list(VAULT, ROOT, recursive=False, limit=100)
    notes = files.list(VAULT, VaultPath("notes"), recursive=False, limit=100)

    assert [info.path for info in root.files] == ["a.md", "notes.md"]
    assert root.directories == ["notes", "notes2"]
    assert [info.path for info in notes.files] == ["notes/b.md"]
    assert notes.directories == ["notes/deep"]
    assert (root.next_after, notes.next_after) == (None, None)


def test_a_recursive_listing_has_every_file_in_key_order(files: FileStore) -> None:
    put(files, "b/z", "a", "b.md", "b/a/x", "é", "B")

    assert paths_of(files) == ["B", "a", "b.md", "b/a/x", "b/z", "é"]
    assert paths_of(files, "b") == ["b/a/x", "b/z"]


def test_a_listed_file_has_its_size_and_etag(files: FileStore) -> None:
    created = files.create(VAULT, NOTE, b"first")

    [listed] = files.list(VAULT, ROOT, recursive=True, limit=10).files

    assert (listed.path, listed.size, listed.etag) == (NOTE, 5, created.etag)
    assert listed.modified.tzinfo is not None


def test_an_absent_directory_is_an_empty_page(files: FileStore) -> None:
    put(files, "notes.md")

    for recursive in (True, False):
        page = files.list(VAULT, VaultPath("notes"), recursive=recursive, limit=10)
        assert (page.files, page.directories, page.next_after) == ([], [], None)
        assert not page.exists


@pytest.mark.parametrize("recursive", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
def test_pages_show_every_entry_once(files: FileStore, limit: int, *, recursive: bool) -> None:
    put(files, "a", "b/1", "b/2", "b/3", "b.md", "c/1", "d")
    seen: list[str] = []
    after: str | None = None

    for _ in range(8):
        page = files.list(VAULT, ROOT, recursive=recursive, limit=limit, after=after)
        assert len(page.files) + len(page.directories) <= limit
        seen += [*(info.path for info in page.files), *(f"{name}/" for name in page.directories)]
        after = page.next_after
        if after is None:
            break

    everything = ["a", "b.md", "b/1", "b/2", "b/3", "c/1", "d"]
    assert sorted(seen) == (everything if recursive else ["a", "b.md", "b/", "c/", "d"])


def test_a_listing_goes_on_after_any_entry_of_a_page(files: FileStore) -> None:
    put(files, "a", "b/1", "b/2", "b.md", "c/1", "d")

    def rest(after: str) -> list[str]:
        page = files.list(VAULT, ROOT, recursive=False, limit=10, after=after)
        return [*(info.path for info in page.files), *(f"{name}/" for name in page.directories)]

    assert rest("a") == ["b.md", "d", "b/", "c/"]
    assert rest("b.md") == ["d", "b/", "c/"]
    assert rest("b/") == ["d", "c/"]
    assert rest("c/") == ["d"]
    assert rest("d") == []
    assert files.list(VAULT, ROOT, recursive=False, limit=3).next_after == "b/"
    assert files.list(VAULT, ROOT, recursive=True, limit=3).next_after == "b/1"


@pytest.mark.parametrize(
    "name",
    [
        "Été 2026/à+b (1).md",
        "100% sûr & certain?.txt",
        "a=b;c,d:e@f!$'*.md",
        'quote"s <tag> #hash.md',
        "日本語/ファイル.md",
        "🌻.md",
        "%41 and %2B.md",
        "tilde~/{braces}[brackets]|pipe^caret`tick.md",
    ],
)
def test_any_odd_name_round_trips(files: FileStore, name: str) -> None:
    path = resolve_path(name)
    info = files.create(VAULT, path, b"x")

    assert files.read(VAULT, path).data == b"x"
    assert paths_of(files) == [path]
    files.delete(VAULT, path, expected=info.etag)
    assert paths_of(files) == []


def test_a_name_in_either_normal_form_is_one_file(files: FileStore) -> None:
    files.create(VAULT, resolve_path("e\u0301te\u0301.md"), b"x")

    assert files.read(VAULT, resolve_path("\u00e9t\u00e9.md")).data == b"x"


def versions_in(bucket: "S3Client") -> list[bool]:
    """Tell of each version, newest first, whether it is a delete marker."""
    listed = bucket.list_object_versions(Bucket=BUCKET)
    kept = [(entry.get("LastModified"), False) for entry in listed.get("Versions", [])]
    hidden = [(entry.get("LastModified"), True) for entry in listed.get("DeleteMarkers", [])]
    return [is_marker for _, is_marker in sorted([*kept, *hidden], key=str, reverse=True)]


def test_every_change_leaves_a_version(bucket: "S3Client", s3_files: S3Files) -> None:
    first = s3_files.create(VAULT, NOTE, b"first")
    second = s3_files.replace(VAULT, NOTE, b"second", expected=first.etag)
    s3_files.delete(VAULT, NOTE, expected=second.etag)

    assert sorted(versions_in(bucket)) == [False, False, True]
    key = f"vaults/acme/v1/{NOTE}"
    for info, data in ((first, b"first"), (second, b"second")):
        kept = bucket.get_object(Bucket=BUCKET, Key=key, VersionId=info.version)
        assert kept["Body"].read() == data


def test_the_mark_of_a_first_load_comes_back_with_the_file(files: FileStore) -> None:
    files.create(VAULT, VaultPath("fresh"), b"x")
    files.create(VAULT, VaultPath("loaded"), b"x", bulk=True)

    for name, bulk in (("fresh", False), ("loaded", True)):
        assert files.head(VAULT, VaultPath(name)).bulk is bulk
        assert files.read(VAULT, VaultPath(name)).info.bulk is bulk


def test_a_first_load_is_marked(bucket: "S3Client", s3_files: S3Files) -> None:
    s3_files.create(VAULT, VaultPath("fresh"), b"x")
    s3_files.create(VAULT, VaultPath("loaded"), b"x", bulk=True)

    def metadata(name: str) -> dict[str, str]:
        return bucket.head_object(Bucket=BUCKET, Key=f"vaults/acme/v1/{name}")["Metadata"]

    assert metadata("fresh") == {}
    assert metadata("loaded") == {"archivolt-priority": "bulk"}


def test_an_object_no_door_can_name_is_not_listed(bucket: "S3Client", s3_files: S3Files) -> None:
    for odd in ("folder/", "a//b", "../up", "e\u0301.md", " lead"):
        bucket.put_object(Bucket=BUCKET, Key=f"vaults/acme/v1/{odd}", Body=b"")
    put(s3_files, "zebra", "zoo/a")

    assert paths_of(s3_files, limit=1) == ["zebra"]
    assert paths_of(s3_files) == ["zebra", "zoo/a"]
    root = s3_files.list(VAULT, ROOT, recursive=False, limit=10)
    assert root.directories == ["a", "folder", "zoo"]


def test_more_files_than_one_answer_holds_are_listed(bucket: "S3Client", s3_files: S3Files) -> None:
    for number in range(1_003):
        bucket.put_object(Bucket=BUCKET, Key=f"vaults/acme/v1/{number:04d}", Body=b"")

    assert len(paths_of(s3_files, limit=1_002)) == 1_002
    assert len(paths_of(s3_files, limit=5_000)) == 1_003


def test_what_a_write_returns_is_what_is_there(files: FileStore) -> None:
    created = files.create(VAULT, NOTE, b"first")
    replaced = files.replace(VAULT, NOTE, b"second", expected=created.etag)

    def known(info: FileInfo) -> tuple[object, ...]:
        return (info.path, info.size, info.etag, info.version)

    assert known(replaced) == known(files.head(VAULT, NOTE))
