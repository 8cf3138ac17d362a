"""Results fit, whatever in them is long."""

from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject
from archivolt.tools.truncation import Cut, json_length, truncate

CUT = Cut(field="files", then=Cut(field="skipped"))
LIMIT = 1_000


def result(files: int, skipped: int) -> JsonObject:
    return {"files": ["f" * 20] * files, "skipped": ["s" * 20] * skipped, "total": files}


def test_what_fits_stays_as_it_is() -> None:
    whole = result(5, 5)

    cut = truncate(whole, CUT, Language.EN, limit=LIMIT)

    assert (cut.value, cut.truncated) == (whole, False)


def test_the_second_field_gives_way_only_where_the_first_is_not_enough() -> None:
    cut = truncate(result(200, 5), CUT, Language.EN, limit=LIMIT)

    assert json_length(cut.value) <= LIMIT
    assert len(cut.value["skipped"]) == 5
    assert 1 < len(cut.value["files"]) < 200


def test_where_both_are_long_both_give_way() -> None:
    for files in (0, 1, 200):
        cut = truncate(result(files, 200), CUT, Language.EN, limit=LIMIT)

        assert json_length(cut.value) <= LIMIT
        assert (cut.truncated, cut.size > LIMIT) == (True, True)
        assert len(cut.value["files"]) == min(files, 1)
        assert 1 < len(cut.value["skipped"]) < 200
        assert cut.value["note"].startswith("Cut to fit")
