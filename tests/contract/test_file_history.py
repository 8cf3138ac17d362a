"""What every `FileStore` promises of versions, copies, empty directories and uploads."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import httpx2
import pytest

from archivolt.adapters.s3 import files as s3_files
from archivolt.adapters.s3 import history
from archivolt.adapters.s3.files import S3Files
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import DeletedFile, ETag, UploadForm, WriteMarks
from archivolt.ports.files import FileStore
from tests.builders import GLOBEX, vault_ref
from tests.contract.conftest import FAKE, MINISTACK, NewBucket
from tests.fakes.clock import FrozenClock
from tests.fakes.files import InMemoryFiles

VAULT = vault_ref()
NOTE = VaultPath("notes/idea.md")
ODD = VaultPath("Été 2026/à+b (1)%41 🌻.md")
BORN = datetime(2020, 2, 29, 12, 30, 15, 250_000, tzinfo=UTC)


@pytest.fixture(params=[FAKE, MINISTACK])
def copies(request: pytest.FixtureRequest, new_bucket: NewBucket) -> FileStore:
    """Every kind of file store, where the S3 ones copy by themselves what is not empty."""
    if request.param == FAKE:
        return InMemoryFiles()
    return S3Files(*new_bucket(request.param), FrozenClock(), small_bytes=0)


def test_marks_come_back_with_the_file(files: FileStore) -> None:
    marks = WriteMarks(created=BORN.astimezone(timezone(timedelta(hours=5))), operation="op-1")
    created = files.create(VAULT, NOTE, b"1", marks=marks)

    for info in (created, files.head(VAULT, NOTE), files.read(VAULT, NOTE).info):
        assert (info.created, info.operation) == (BORN, "op-1")


@pytest.mark.parametrize("path", ["a.md", "Été 2026/à+b (1).md", "/".join(["é€" * 40] * 4)])
def test_where_a_file_was_moved_from_comes_back_with_it(files: FileStore, path: str) -> None:
    marks = WriteMarks(created=BORN, operation="op-" + "x" * 60, moved_from=VaultPath(path))
    created = files.create(VAULT, NOTE, b"1", marks=marks)
    copied = files.copy(VAULT, NOTE, ODD, expected=created.etag, marks=marks)

    for info in (created, files.head(VAULT, NOTE), copied, files.read(VAULT, ODD).info):
        assert info.moved_from == path
    files.replace(VAULT, NOTE, b"2", expected=created.etag)
    assert files.head(VAULT, NOTE).moved_from == ""


def test_a_new_version_has_the_marks_it_was_written_with(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"1", marks=WriteMarks(created=BORN, operation="op-1"))
    second = files.replace(
        VAULT, NOTE, b"2", expected=first.etag, marks=WriteMarks(created=BORN, operation="op-2")
    )
    files.replace(VAULT, NOTE, b"3", expected=second.etag)

    assert files.head(VAULT, NOTE).operation == ""
    assert files.head(VAULT, NOTE, version=second.version).operation == "op-2"
    assert files.head(VAULT, NOTE, version=second.version).created == BORN


def test_a_file_without_a_mark_was_created_when_it_was_written(files: FileStore) -> None:
    files.create(VAULT, NOTE, b"1")

    info = files.head(VAULT, NOTE)
    assert info.created == info.modified


def test_an_old_version_is_read(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first", content_type="text/markdown")
    second = files.replace(VAULT, NOTE, b"second!", expected=first.etag)
    files.delete(VAULT, NOTE, expected=second.etag)

    for info, data in ((first, b"first"), (second, b"second!")):
        content = files.read(VAULT, NOTE, version=info.version)
        assert (content.data, content.info.etag, content.info.version) == (
            data,
            info.etag,
            info.version,
        )
        assert files.head(VAULT, NOTE, version=info.version).size == len(data)
    part = files.read(VAULT, NOTE, version=first.version, offset=1, max_bytes=3)
    assert (part.data, part.truncated, part.info.size) == (b"irs", True, 5)
    assert files.read(VAULT, NOTE, version=first.version, max_bytes=0).truncated


def test_a_version_that_is_none_is_not_found(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first")
    files.delete(VAULT, NOTE, expected=first.etag)
    other = files.create(VAULT, VaultPath("other.md"), b"other")
    deletion = files.versions(VAULT, NOTE)[0].version

    for look in (files.head, files.read):
        for version in ("nonsense", other.version, deletion):
            with pytest.raises(NotFoundError) as refused:
                look(VAULT, NOTE, version=version)
            assert refused.value.code == "version_not_found"


def test_every_version_of_a_file_is_listed_the_newest_first(files: FileStore) -> None:
    first = files.create(VAULT, ODD, b"1")
    second = files.replace(VAULT, ODD, b"22", expected=first.etag)
    files.delete(VAULT, ODD, expected=second.etag)

    deletion, newer, older = files.versions(VAULT, ODD)

    assert (deletion.deletion, deletion.current, deletion.size) == (True, True, 0)
    assert deletion.etag == ""
    for listed, info in ((newer, second), (older, first)):
        assert (listed.version, listed.etag, listed.size) == (info.version, info.etag, info.size)
        assert (listed.deletion, listed.current) == (False, False)


def test_the_version_that_is_read_is_the_current_one(files: FileStore) -> None:
    etag = files.create(VAULT, NOTE, b"1").etag
    files.delete(VAULT, NOTE, expected=etag)
    files.create(VAULT, NOTE, b"2")

    versions = files.versions(VAULT, NOTE)

    assert [version.current for version in versions] == [True, False, False]
    assert versions[0].version == files.head(VAULT, NOTE).version


def test_a_longer_name_lends_no_versions(files: FileStore) -> None:
    for name in ("a.md.bak", "a.md/b", "a.mdx", "a"):
        files.create(VAULT, VaultPath(name), b"x")
    files.create(vault_ref(tenant=GLOBEX), VaultPath("a.md"), b"x")

    assert files.versions(VAULT, VaultPath("a.md")) == []
    files.create(VAULT, VaultPath("a.md"), b"x")
    assert len(files.versions(VAULT, VaultPath("a.md"))) == 1


def deleted(files: FileStore, directory: str = "", *, limit: int = 100) -> Sequence[DeletedFile]:
    found: list[DeletedFile] = []
    after: str | None = None
    while True:
        page = files.deleted(VAULT, VaultPath(directory), limit=limit, after=after)
        assert len(page.files) <= limit
        found += page.files
        after = page.next_after
        if after is None:
            return found


def write_and_delete(files: FileStore, *paths: str) -> None:
    for path in paths:
        etag = files.create(VAULT, VaultPath(path), path.encode()).etag
        files.delete(VAULT, VaultPath(path), expected=etag)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_deleted_files_are_listed_page_by_page(files: FileStore, limit: int) -> None:
    write_and_delete(files, "b/2", "a", "b.md", "b/1", "b/c/3", "é")
    files.create(VAULT, VaultPath("kept"), b"x")
    files.create(VAULT, VaultPath("b/1"), b"back again")
    write_and_delete(files, "b/2")

    everywhere = deleted(files, limit=limit)

    assert [file.path for file in everywhere] == ["a", "b.md", "b/2", "b/c/3", "é"]
    assert [file.path for file in deleted(files, "b", limit=limit)] == ["b/2", "b/c/3"]
    assert deleted(files, "kept", limit=limit) == []


def test_a_deleted_file_names_its_last_content(files: FileStore) -> None:
    first = files.create(VAULT, NOTE, b"first")
    second = files.replace(VAULT, NOTE, b"second", expected=first.etag)
    files.delete(VAULT, NOTE, expected=second.etag)

    [gone] = deleted(files)

    assert (gone.version, gone.etag, gone.size) == (second.version, second.etag, 6)
    assert files.read(VAULT, NOTE, version=gone.version).data == b"second"
    assert gone.deleted_at == files.versions(VAULT, NOTE)[0].modified


def test_a_copy_has_content_type_and_birth_of_its_source(copies: FileStore) -> None:
    source = copies.create(
        VAULT, ODD, b"x" * 10, content_type="text/markdown", marks=WriteMarks(created=BORN)
    )
    marks = WriteMarks(operation="op-2")

    copied = copies.copy(VAULT, ODD, NOTE, expected=source.etag, marks=marks)

    assert copies.read(VAULT, NOTE).data == b"x" * 10
    assert copies.read(VAULT, ODD).data == b"x" * 10
    for info in (copied, copies.head(VAULT, NOTE)):
        assert (info.path, info.size, info.content_type) == (NOTE, 10, "text/markdown")
        assert (info.created, info.operation, info.bulk) == (BORN, "op-2", False)
        assert (info.version, info.etag) == (copied.version, copied.etag)


def test_a_copy_of_a_first_load_is_a_fresh_change(copies: FileStore) -> None:
    source = copies.create(VAULT, ODD, b"x", bulk=True)

    copies.copy(VAULT, ODD, NOTE, expected=source.etag)

    assert not copies.head(VAULT, NOTE).bulk
    assert copies.head(VAULT, NOTE).created == copies.head(VAULT, ODD).modified


def test_an_old_version_is_copied_even_over_its_own_deletion(copies: FileStore) -> None:
    first = copies.create(VAULT, NOTE, b"first")
    second = copies.replace(VAULT, NOTE, b"second", expected=first.etag)
    copies.delete(VAULT, NOTE, expected=second.etag)

    copies.copy(VAULT, NOTE, NOTE, expected=first.etag, version=first.version)

    assert copies.read(VAULT, NOTE).data == b"first"
    assert len(copies.versions(VAULT, NOTE)) == 4


def test_a_copy_overwrites_nothing(copies: FileStore) -> None:
    source = copies.create(VAULT, ODD, b"source")
    copies.create(VAULT, NOTE, b"target")

    for target in (NOTE, ODD):
        with pytest.raises(ConflictError) as refused:
            copies.copy(VAULT, ODD, target, expected=source.etag)
        assert (refused.value.code, refused.value.details) == ("file_exists", {"path": target})
        assert len(copies.versions(VAULT, target)) == 1


def test_a_copy_is_of_the_content_that_was_expected_or_nothing(copies: FileStore) -> None:
    first = copies.create(VAULT, ODD, b"first")
    copies.replace(VAULT, ODD, b"second", expected=first.etag)

    with pytest.raises(ConflictError) as stale:
        copies.copy(VAULT, ODD, NOTE, expected=first.etag)
    with pytest.raises(ConflictError) as other:
        copies.copy(VAULT, ODD, NOTE, expected=ETag("0" * 32), version=first.version)

    assert (stale.value.code, other.value.code) == ("conflict", "conflict")
    assert copies.versions(VAULT, NOTE) == []


def test_what_is_not_there_is_not_copied(copies: FileStore) -> None:
    gone = copies.create(VAULT, ODD, b"gone")
    copies.delete(VAULT, ODD, expected=gone.etag)

    for path in (ODD, VaultPath("never.md")):
        with pytest.raises(NotFoundError) as absent:
            copies.copy(VAULT, path, NOTE, expected=gone.etag)
        assert absent.value.code == "file_not_found"
    with pytest.raises(NotFoundError) as no_version:
        copies.copy(VAULT, ODD, NOTE, expected=gone.etag, version="nonsense")
    assert no_version.value.code == "version_not_found"


@pytest.mark.parametrize("keys", [1, 2, 3, 1_000])
def test_a_history_longer_than_one_answer_is_read_whole(
    ministack_files: S3Files, monkeypatch: pytest.MonkeyPatch, keys: int
) -> None:
    monkeypatch.setattr(history, "PAGE_KEYS", keys)
    infos = [ministack_files.create(VAULT, NOTE, b"0")]
    for number in range(1, 4):
        infos.append(
            ministack_files.replace(VAULT, NOTE, f"{number}".encode(), expected=infos[-1].etag)
        )
    ministack_files.delete(VAULT, NOTE, expected=infos[-1].etag)
    write_and_delete(ministack_files, "a", "notes/idea.md.bak", "z", "z")
    ministack_files.create(VAULT, VaultPath("z"), b"kept")

    newest, *others = ministack_files.versions(VAULT, NOTE)
    assert newest.deletion
    assert [version.version for version in others] == [info.version for info in infos[::-1]]
    gone = deleted(ministack_files, limit=2)
    assert [file.path for file in gone] == ["a", "notes/idea.md", "notes/idea.md.bak"]
    assert [file.version for file in gone][1] == infos[-1].version


@pytest.mark.parametrize("keys", [1, 2, 3])
def test_a_listing_longer_than_one_answer_is_read_whole(
    ministack_files: S3Files, monkeypatch: pytest.MonkeyPatch, keys: int
) -> None:
    monkeypatch.setattr(s3_files, "MAX_KEYS", keys)
    names = ["a/1", "a/2", "b", "c/1", "d", "é"]
    for name in names:
        ministack_files.create(VAULT, VaultPath(name), b"x")
    ministack_files.make_directory(VAULT, VaultPath("a"))

    whole = ministack_files.list(VAULT, ROOT, recursive=True, limit=100)
    assert [info.path for info in whole.files] == names
    root = ministack_files.list(VAULT, ROOT, recursive=False, limit=100)
    assert ([info.path for info in root.files], root.directories) == (["b", "d", "é"], ["a", "c"])


def listed(files: FileStore, directory: str = "") -> tuple[list[str], list[str], bool]:
    page = files.list(VAULT, VaultPath(directory), recursive=False, limit=100)
    return [info.path for info in page.files], list(page.directories), page.exists


def test_an_empty_directory_is_listed_and_is_no_file(files: FileStore) -> None:
    for _ in range(2):
        files.make_directory(VAULT, VaultPath("été/deep"))

    assert listed(files) == ([], ["été"], True)
    assert listed(files, "été") == ([], ["été/deep"], True)
    assert listed(files, "été/deep") == ([], [], True)
    assert listed(files, "été/deeper") == ([], [], False)
    recursive = files.list(VAULT, ROOT, recursive=True, limit=10)
    assert (recursive.files, recursive.directories) == ([], [])
    assert files.list(VAULT, VaultPath("été"), recursive=True, limit=10).exists
    for look in (files.head, files.read):
        with pytest.raises(NotFoundError):
            look(VAULT, VaultPath("été/deep"))


def test_the_root_of_an_empty_vault_exists(files: FileStore) -> None:
    assert listed(files) == ([], [], True)


def test_a_directory_that_was_made_outlives_its_files(files: FileStore) -> None:
    files.make_directory(VAULT, VaultPath("a"))
    write_and_delete(files, "a/1", "b/1")

    assert listed(files) == ([], ["a"], True)
    assert [file.path for file in deleted(files)] == ["a/1", "b/1"]


def test_a_removed_directory_is_gone_and_its_files_stay(files: FileStore) -> None:
    for name in ("a", "b"):
        files.make_directory(VAULT, VaultPath(name))
    files.create(VAULT, VaultPath("b/1"), b"x")

    for name in ("a", "b", "never"):
        files.remove_directory(VAULT, VaultPath(name))

    assert listed(files) == ([], ["b"], True)
    assert listed(files, "a") == ([], [], False)
    assert listed(files, "b") == (["b/1"], [], True)
    assert deleted(files) == []


@pytest.mark.parametrize("recursive", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 50])
def test_pages_pass_over_empty_directories(
    files: FileStore, limit: int, *, recursive: bool
) -> None:
    for name in ("a", "a/empty", "b", "z"):
        files.make_directory(VAULT, VaultPath(name))
    for name in ("a/1", "a/2", "b/1", "c"):
        files.create(VAULT, VaultPath(name), b"x")
    seen: list[str] = []
    after: str | None = None

    for _ in range(8):
        page = files.list(VAULT, ROOT, recursive=recursive, limit=limit, after=after)
        seen += [*(info.path for info in page.files), *(f"{name}/" for name in page.directories)]
        after = page.next_after
        if after is None:
            break

    assert sorted(seen) == (["a/1", "a/2", "b/1", "c"] if recursive else ["a/", "b/", "c", "z/"])


def send(form: UploadForm, data: bytes, **headers: str) -> int:
    """Send an upload with some of its headers changed; "" leaves one out."""
    sent = {name: value for name, value in (form.headers | headers).items() if value}
    sent.pop("Content-Length", None)
    with httpx2.Client(trust_env=False) as client:
        return client.request(form.method, form.url, content=data, headers=sent).status_code


def upload_of(files: FileStore, size: int) -> UploadForm:
    return files.upload_form(VAULT, ODD, size=size, content_type="image/png", seconds=60)


def test_an_upload_goes_straight_to_the_store_once(ministack_files: S3Files) -> None:
    form = upload_of(ministack_files, 5)

    assert send(form, b"image") == 200
    assert send(form, b"other") == 412

    content = ministack_files.read(VAULT, ODD)
    assert (content.data, content.info.content_type) == (b"image", "image/png")


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (b"imag", {}),
        (b"images", {}),
        (b"", {}),
        (b"image", {"Content-Type": "text/html"}),
        (b"image", {"Content-Type": ""}),
        (b"image", {"If-None-Match": ""}),
        (b"image", {"If-None-Match": '"etag"'}),
    ],
)
def test_an_upload_that_is_not_as_it_was_signed_is_refused(
    ministack_files: S3Files, data: bytes, headers: dict[str, str]
) -> None:
    assert send(upload_of(ministack_files, 5), data, **headers) == 403

    assert ministack_files.versions(VAULT, ODD) == []


def test_an_address_serves_one_path_and_ends(new_bucket: NewBucket) -> None:
    files = S3Files(*new_bucket(MINISTACK), FrozenClock())
    form = upload_of(files, 5)
    assert form.expires_at == FrozenClock().now() + timedelta(seconds=60)

    longer = form.url.replace("X-Amz-Expires=60", "X-Amz-Expires=6000")
    for url in (longer, form.url.replace("2026/", "2027/")):
        assert url != form.url
        assert send(replace(form, url=url), b"image") == 403
