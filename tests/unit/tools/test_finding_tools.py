"""The tools that find documents without a model, called through the pipeline."""

import json
from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.errors import InvalidRequestError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.ingestion import Generation, IndexState
from archivolt.domain.language import Language
from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from tests.builders import ALICE, BOB, principal
from tests.unit.test_paths import ATTACKS, ODD_NAMES
from tests.unit.tools.test_catalogue import read_on
from tests.world import World

BOB_ = principal(BOB)
ANY_VAULT: dict[str, tuple[dict[str, Any], str]] = {
    "search_advanced": ({"q": "apples"}, "hits"),
    "search_paths": ({"q": "a"}, "paths"),
    "list_tags": ({}, "tags"),
    "suggest_tags": ({"q": "fru"}, "tags"),
    "list_recent": ({}, "files"),
}


@pytest.fixture
def world() -> World:
    """Alice owns `notes`, Bob owns `ideas` and shares it with Alice; each has `a.md`."""
    world = World()
    notes = world.vault("notes")
    ideas = world.vault("ideas", owner=BOB_)
    world.share(ideas, principal(ALICE))
    world.write(notes, "a.md", "green apples", tags=("fruit/apple", "green"))
    world.write(ideas, "a.md", "red apples", tags=("fruit/apple",))
    return world


def vault_of(world: World, name: str = "notes") -> VaultRef:
    return world.vaults.access(principal(ALICE), name).vault.ref


def paths(result: dict[str, Any], field: str = "hits") -> list[str]:
    return [each["path"] for each in result[field]]


class TestEverySearch:
    @pytest.mark.parametrize("tool", ["search_advanced", "search_paths", "list_recent"])
    def test_it_is_over_the_named_vault_or_all_of_the_callers(
        self, world: World, tool: str
    ) -> None:
        arguments, field = ANY_VAULT[tool]

        def vaults(by: Principal | None = None, **more: Any) -> set[str]:  # noqa: ANN401
            return {each["vault"] for each in world.call(tool, {**arguments, **more}, by=by)[field]}

        assert vaults() == {"notes", "ideas"}
        assert vaults(vault="ideas") == {"ideas"}
        assert vaults(BOB_) == {"ideas"}
        assert vaults(principal("mallory")) == set()

    @pytest.mark.parametrize("tool", ["list_tags", "suggest_tags"])
    def test_tags_are_counted_over_the_named_vault_or_all_of_the_callers(
        self, world: World, tool: str
    ) -> None:
        arguments, field = ANY_VAULT[tool]

        def counts(by: Principal | None = None, **more: Any) -> dict[str, int]:  # noqa: ANN401
            tags = world.call(tool, {**arguments, **more}, by=by)[field]
            return {tag["tag"]: tag["documents"] for tag in tags}

        assert counts()["fruit/apple"] == 2
        assert counts(vault="ideas")["fruit/apple"] == counts(BOB_)["fruit/apple"] == 1
        assert "green" not in counts(BOB_)
        assert counts(principal("mallory")) == {}

    @pytest.mark.parametrize("tool", ["search_advanced", "search_paths", "list_recent"])
    def test_a_deleted_or_overtaken_document_is_not_shown(self, world: World, tool: str) -> None:
        arguments, field = ANY_VAULT[tool]
        notes = vault_of(world)
        entry = world.catalogue.get(notes, VaultPath("a.md"))
        assert entry
        newer = replace(entry, generation=Generation("z"))
        assert world.catalogue.advance(newer, previous=entry)
        assert {each["vault"] for each in world.call(tool, arguments)[field]} == {"ideas"}

        deleted = replace(entry, state=IndexState.DELETED)
        assert world.catalogue.advance(deleted, previous=newer)
        assert {each["vault"] for each in world.call(tool, arguments)[field]} == {"ideas"}

    def test_a_document_newer_than_the_catalogue_knows_is_shown(self, world: World) -> None:
        notes = vault_of(world)
        note = world.notes.notes(notes, [VaultPath("a.md")])[VaultPath("a.md")]
        world.notes.put(replace(note, generation=Generation("z")), "late apples")

        assert paths(world.call("search_advanced", {"q": "late", "vault": "notes"})) == ["a.md"]

    @pytest.mark.parametrize("name", [*ODD_NAMES, "dir/" + "é" * 126 + ".md"])
    def test_an_odd_name_goes_through_unchanged(self, name: str) -> None:
        world = World()
        vault = "Été 100%"
        notes = world.vault(vault)
        info = world.write(notes, name, "apples #x", tags=("x",))
        link = name.removesuffix(".md")
        world.write(notes, "from.md", f"see [[{link}]] and [it](<{name}>)")

        (hit,) = world.call("search_advanced", {"q": "apples", "include_paths": [name]})["hits"]
        assert (hit["path"], hit["etag"]) == (name, info.etag)
        assert name in paths(world.call("search_paths", {"q": name.rpartition("/")[2]}), "paths")
        assert name in paths(world.call("list_recent"), "files")
        at = {"vault": vault, "path": name}
        assert world.call("get_backlinks", at)["path"] == name
        assert world.call("get_graph", at)["nodes"][0]["path"] == name
        assert world.call("suggest_tags", {"q": name})["tags"] == []

    @pytest.mark.parametrize("attack", [a for a in ATTACKS if a not in {"", ".", "a/"}])
    @pytest.mark.parametrize(
        ("tool", "parameter"),
        [("get_backlinks", "path"), ("get_graph", "path"), ("get_graph", "scope")],
    )
    def test_a_path_that_is_not_plainly_inside_the_vault_is_refused(
        self, world: World, tool: str, parameter: str, attack: str
    ) -> None:
        with pytest.raises(InvalidRequestError) as caught:
            world.call(tool, {"vault": "notes", parameter: attack})
        assert caught.value.code in {"invalid_path", "invalid_arguments"}


class TestAdvancedSearch:
    def test_a_hit_tells_where_and_what(self, world: World) -> None:
        info = world.write(vault_of(world), "b.md", "first\nPommes et pommes\nlast", tags=("x",))

        found = world.call("search_advanced", {"q": "POMMES"})

        moment = world.clock.now().isoformat().replace("+00:00", "Z")
        assert found == {
            "hits": [
                {
                    "vault": "notes",
                    "path": "b.md",
                    "uri": "vault://notes/b.md",
                    "title": "b.md",
                    "etag": info.etag,
                    "size": info.size,
                    "created": moment,
                    "modified": moment,
                    "tags": ["x"],
                    "occurrences": 2,
                    "lines": [
                        {"line": 2, "text": "Pommes et pommes", "highlights": [[0, 6], [10, 16]]}
                    ],
                }
            ],
            "offset": 0,
            "next_offset": None,
        }

    def test_filters_of_every_kind_narrow_it(self, world: World) -> None:
        world.clock.advance(days=10)
        notes = vault_of(world)
        world.write(notes, "new/big.md", "apples " * 2_000, tags=("green",))

        def found(**arguments: Any) -> list[str]:  # noqa: ANN401
            return paths(world.call("search_advanced", {"vault": "notes", **arguments}))

        assert found(q="apples") == ["new/big.md", "a.md"]
        assert found(size=">10kb") == ["new/big.md"]
        assert found(modified="last 2 days") == ["new/big.md"]
        assert found(created="..9d") == ["a.md"]
        assert found(include_paths=["*.md"], exclude_paths=["new/"]) == ["a.md"]
        assert found(include_paths="new, other/*") == ["new/big.md"]
        assert found(tag="fruit") == ["a.md"]
        assert found(q=r"gr\w+n", regex=True) == ["a.md"]
        assert found(q="GREEN", case_sensitive=True) == []
        assert found(q="apple", whole_word=True) == []

    @pytest.mark.parametrize(
        ("sort", "order"),
        [
            ("", "ba"),
            ("path", "ab"),
            ("-path", "ba"),
            ("path desc", "ba"),
            ("size", "ba"),
            ("size:asc", "ab"),
            ("Modified_ASC", "ab"),
            ("-modified", "ba"),
            ("created", "ba"),
            ("relevance asc", "ab"),
        ],
    )
    def test_the_order_is_asked_for_as_people_write_it(
        self, world: World, sort: str, order: str
    ) -> None:
        world.clock.advance(days=1)
        world.write(vault_of(world), "b.md", "apples apples apples")

        found = world.call("search_advanced", {"q": "apples", "vault": "notes", "sort": sort})

        assert "".join(path[0] for path in paths(found)) == order

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ({"sort": "beauty"}, "invalid_sort"),
            ({"sort": "path up"}, "invalid_sort"),
            ({"created": "soon"}, "invalid_date_range"),
            ({"modified": "2026-99"}, "invalid_date_range"),
            ({"size": "huge"}, "invalid_size_range"),
            ({"q": "a(", "regex": True}, "invalid_pattern"),
            ({"include_paths": ["x"] * 51}, "invalid_arguments"),
        ],
    )
    def test_what_cannot_be_read_is_refused_in_both_languages(
        self, world: World, arguments: dict[str, Any], code: str
    ) -> None:
        with pytest.raises(InvalidRequestError) as caught:
            world.call("search_advanced", arguments)

        assert caught.value.code == code
        assert caught.value.message(Language.EN) != caught.value.message(Language.FR)

    def test_a_long_line_is_cut_around_what_was_found(self, world: World) -> None:
        world.write(vault_of(world), "b.md", f"{'before ' * 200}needle{' after' * 200}")

        (hit,) = world.call("search_advanced", {"q": "needle"})["hits"]

        (line,) = hit["lines"]
        ((start, end),) = line["highlights"]
        assert len(line["text"]) <= 300
        assert line["text"][start:end] == "needle"

    def test_a_secret_can_neither_be_found_nor_spelled_out(self, world: World) -> None:
        secret = "hf_" + "aB3" * 12
        world.write(vault_of(world), "b.md", f"key: {secret} of the bakery")

        assert world.call("search_advanced", {"q": "hf_[a-zA-Z]", "regex": True})["hits"] == []
        found = world.call("search_advanced", {"q": "bakery"})
        assert paths(found) == ["b.md"]
        assert secret[:8] not in json.dumps(found)

    def test_many_hits_are_read_on_to_the_last(self) -> None:
        world = World()
        notes = world.vault("notes")
        for number in range(90):
            world.write(notes, f"{number:02}.md", f"apples {'filler ' * 60}{number}")

        parts = read_on(
            world,
            "search_advanced",
            {"q": "apples", "sort": "path", "limit": 40},
            "next_offset",
            "offset",
        )

        listed = [path for part in parts for path in paths(part)]
        assert listed == [f"{number:02}.md" for number in range(90)]

    def test_time_that_ran_out_is_told(self, world: World) -> None:
        world.notes.complete = False

        found = world.call("search_advanced", {"q": "apples"}, language=Language.FR)

        assert "temps" in found["note"]


class TestPaths:
    @pytest.fixture
    def world(self) -> World:
        world = World()
        notes = world.vault("notes")
        for path in [
            "Projets/Réunions/2026-01-02 Compte rendu.md",
            "Projets/Réunions/budget.xlsx",
            "archive/reunions.md",
            "Собрания/Отчёт.md",
            "会議/議事録.md",
        ]:
            world.write(notes, path, "text")
        return world

    def found(self, world: World, q: str, **more: Any) -> list[str]:  # noqa: ANN401
        return paths(world.call("search_paths", {"q": q, **more}), "paths")

    def test_files_and_directories_are_found_names_first(self, world: World) -> None:
        found = world.call("search_paths", {"q": "reunions"})["paths"]

        assert [(each["kind"], each["path"]) for each in found] == [
            ("directory", "Projets/Réunions/"),
            ("file", "archive/reunions.md"),
            ("file", "Projets/Réunions/budget.xlsx"),
            ("file", "Projets/Réunions/2026-01-02 Compte rendu.md"),
        ]
        assert found[0]["uri"] == "vault://notes/Projets/R%C3%A9unions"
        assert found[1]["etag"]

    def test_every_word_counts_and_parts_do(self, world: World) -> None:
        assert self.found(world, "rendu réuni") == ["Projets/Réunions/2026-01-02 Compte rendu.md"]
        assert self.found(world, "budget.xlsx") == ["Projets/Réunions/budget.xlsx"]
        assert self.found(world, "отчет") == ["Собрания/Отчёт.md"]
        assert self.found(world, "会議") == ["会議/", "会議/議事録.md"]
        assert self.found(world, "nothing here") == []

    def test_punctuation_gives_way_when_nothing_has_it(self, world: World) -> None:
        assert self.found(world, "compte-rendu") == ["Projets/Réunions/2026-01-02 Compte rendu.md"]
        assert self.found(world, "...") == []

    def test_pages_join(self, world: World) -> None:
        everything = self.found(world, "e", limit=100)

        parts = read_on(world, "search_paths", {"q": "e", "limit": 2}, "next_offset", "offset")

        assert [path for part in parts for path in paths(part, "paths")] == everything


class TestTags:
    @pytest.fixture
    def world(self) -> World:
        world = World()
        notes = world.vault("notes")
        world.write(notes, "tart.md", "apple tart with butter", tags=("recipe/dessert", "apple"))
        world.write(notes, "pie.md", "apple pie with butter", tags=("recipe/dessert",))
        world.write(notes, "car.md", "the car needs oil", tags=("garage", "été"))
        return world

    def test_tags_are_listed_as_a_tree_with_counts(self, world: World) -> None:
        found = world.call("list_tags", {"vault": "notes"})

        assert [(t["tag"], t["documents"], t["with_nested"]) for t in found["tags"]] == [
            ("apple", 1, 1),
            ("garage", 1, 1),
            ("recipe", 0, 2),
            ("recipe/dessert", 2, 2),
            ("été", 1, 1),
        ]
        assert found["total"] == 5

    def test_many_tags_are_read_on_to_the_last(self, world: World) -> None:
        names = [f"tag-{number:04}" for number in range(500)]
        world.write(vault_of(world), "many.md", "text", tags=tuple(names))

        parts = read_on(world, "list_tags", {"limit": 300}, "next_offset", "offset")

        listed = [tag["tag"] for part in parts for tag in part["tags"]]
        assert len(listed) == 505
        assert [name for name in listed if name.startswith("tag-")] == names

    def suggested(self, world: World, q: str) -> list[tuple[str, str]]:
        tags = world.call("suggest_tags", {"q": q})["tags"]
        return [(tag["tag"], tag["reason"]) for tag in tags]

    def test_names_that_begin_so_are_suggested_first(self, world: World) -> None:
        assert self.suggested(world, "#APP")[0] == ("apple", "name")
        assert self.suggested(world, "ete") == [("été", "name")]
        assert self.suggested(world, "dess") == [("recipe/dessert", "name")]

    def test_a_text_is_given_the_tags_of_documents_like_it(self, world: World) -> None:
        assert self.suggested(world, "cake with butter") == [
            ("recipe/dessert", "content"),
            ("apple", "content"),
        ]
        assert self.suggested(world, "an apple a day")[0] == ("apple", "name")
        assert self.suggested(world, "quantum") == []

    def test_a_note_is_given_tags_that_it_does_not_have(self, world: World) -> None:
        assert self.suggested(world, "pie.md")[0] == ("apple", "name")
        assert "recipe/dessert" not in [tag for tag, _ in self.suggested(world, "pie.md")]


class TestRecent:
    def test_the_newest_come_first_with_their_age_in_words(self, world: World) -> None:
        world.clock.advance(days=3)
        world.write(vault_of(world), "b.md", "text")
        world.clock.advance(hours=2)

        french = world.call("list_recent", {"vault": "notes"}, language=Language.FR)["files"]
        english = world.call("list_recent", {"vault": "notes", "mode": "created"})["files"]

        assert [(file["path"], file["age"]) for file in french] == [
            ("b.md", "il y a 2 heures"),
            ("a.md", "il y a 3 jours"),
        ]
        assert [(file["path"], file["age"]) for file in english] == [
            ("b.md", "2 hours ago"),
            ("a.md", "3 days ago"),
        ]

    def test_an_unknown_mode_is_refused_with_the_modes(self, world: World) -> None:
        with pytest.raises(InvalidRequestError, match="modified") as caught:
            world.call("list_recent", {"mode": "opened"})
        assert caught.value.code == "invalid_arguments"

    def test_pages_join(self, world: World) -> None:
        for number in range(30):
            world.clock.advance(minutes=1)
            world.write(vault_of(world), f"{number}.md", "text")

        parts = read_on(world, "list_recent", {"limit": 9}, "next_offset", "offset")

        listed = [(f["vault"], f["path"]) for part in parts for f in part["files"]]
        assert len(set(listed)) == len(listed) == 32
        assert listed[0] == ("notes", "29.md")


class TestBacklinks:
    @pytest.fixture
    def world(self) -> World:
        world = World()
        notes = world.vault("notes")
        world.write(notes, "people/Zoé.md", "herself: [[Zoé#Top]]")
        world.write(
            notes,
            "plan.md",
            "# Plan\n\n## Team\nAsk [[zoé|her]] or [Zoé](people/Zo%C3%A9.md#Contact).\n"
            "```\n# no heading\n```\n![[people/Zoé#^mail]]",
        )
        world.write(notes, "other/Zoé.md", "another one")
        world.write(notes, "other/x.md", "[[Zoé]] is the other one, [[people/Zoé.md]] the first")
        world.write(notes, "plain.md", "Zoé is only named here")
        return world

    def test_every_kind_of_link_is_found_where_it_stands(self, world: World) -> None:
        found = world.call("get_backlinks", {"vault": "notes", "path": "people/Zoé.md"})

        assert paths(found, "backlinks") == ["other/x.md", "plan.md"]
        assert found["total"] == 2
        (only,) = found["backlinks"][0]["links"]
        assert only["excerpt"][slice(*only["highlights"][0])] == "[[people/Zoé.md]]"
        in_plan = found["backlinks"][1]["links"]
        assert [(at["kind"], at["line"], at["heading"]) for at in in_plan] == [
            ("markdown", 4, "Team"),
            ("embed", 8, "Team"),
        ]
        assert [at["target_heading"] for at in in_plan] == ["Contact", "^mail"]

    def test_of_a_note_full_of_links_the_first_are_shown_and_all_are_counted(
        self, world: World
    ) -> None:
        world.write(vault_of(world), "full.md", "[[people/Zoé]]\n" * 20_000)

        found = world.call("get_backlinks", {"vault": "notes", "path": "people/Zoé.md"})

        full = found["backlinks"][0]
        assert (full["path"], full["links_total"]) == ("full.md", 20_000)
        assert [link["line"] for link in full["links"]] == list(range(1, 11))

    def test_an_ambiguous_name_leads_where_obsidian_leads_it(self, world: World) -> None:
        found = world.call("get_backlinks", {"vault": "notes", "path": "other/Zoé.md"})

        assert [(b["path"], b["links"][0]["alias"]) for b in found["backlinks"]] == [
            ("other/x.md", ""),
            ("plan.md", "her"),
        ]

    def test_a_file_that_is_not_there_is_not_found(self, world: World) -> None:
        with pytest.raises(NotFoundError, match="file_not_found"):
            world.call("get_backlinks", {"vault": "notes", "path": "nobody.md"})

    def test_links_of_other_vaults_do_not_count(self, world: World) -> None:
        world.write(world.vault("more"), "x.md", "[[people/Zoé]]")

        found = world.call("get_backlinks", {"vault": "notes", "path": "people/Zoé.md"})

        assert found["total"] == 2

    def test_a_deleted_note_is_left_out(self, world: World) -> None:
        notes = vault_of(world)
        entry = world.catalogue.get(notes, VaultPath("plan.md"))
        assert entry
        assert world.catalogue.advance(replace(entry, state=IndexState.DELETED), previous=entry)

        found = world.call("get_backlinks", {"vault": "notes", "path": "people/Zoé.md"})

        assert paths(found, "backlinks") == ["other/x.md"]

    def test_a_secret_beside_a_link_is_hidden(self, world: World) -> None:
        secret = "hf_" + "aB3" * 12
        world.write(vault_of(world), "key.md", f"{secret} is the key of [[plan]]")

        found = world.call("get_backlinks", {"vault": "notes", "path": "plan.md"})

        assert paths(found, "backlinks") == ["key.md"]
        assert secret[:8] not in json.dumps(found)

    def test_many_are_read_on_to_the_last(self, world: World) -> None:
        for number in range(60):
            world.write(vault_of(world), f"n/{number:02}.md", f"{'x ' * 100}[[plan]]")

        at = {"vault": "notes", "path": "plan.md", "limit": 50}
        parts = list(read_on(world, "get_backlinks", at, "next_offset", "offset"))

        assert len({path for part in parts for path in paths(part, "backlinks")}) == 60
        assert {part["total"] for part in parts} == {60}


class TestGraph:
    @pytest.fixture
    def world(self) -> World:
        """A chain a - b - c - d, an island, and a link to nothing."""
        world = World()
        notes = world.vault("notes")
        world.write(notes, "a.md", "[[b]] [[b|twice]] [[missing note]]", tags=("x/y",))
        world.write(notes, "b.md", "[c](dir/c.md) [[a]]", tags=("x",))
        world.write(notes, "dir/c.md", "![[photo.png]] [[#self]]", tags=("x",))
        world.write(notes, "dir/d.md", "[[c]]")
        world.write(notes, "dir/photo.png", b"\x89PNG\x00")
        world.write(notes, "island.md", "no link")
        return world

    def graph(self, world: World, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        return world.call("get_graph", {"vault": "notes", **arguments})

    def edges(self, graph: dict[str, Any]) -> set[tuple[str, str, int]]:
        return {(edge["source"], edge["target"], edge["links"]) for edge in graph["edges"]}

    def test_the_whole_vault_has_every_linked_file_and_what_is_missing(self, world: World) -> None:
        graph = self.graph(world)

        assert {node["path"]: node["kind"] for node in graph["nodes"]} == {
            "a.md": "note",
            "b.md": "note",
            "dir/c.md": "note",
            "dir/d.md": "note",
            "dir/photo.png": "file",
            "missing note": "missing",
        }
        assert self.edges(graph) == {
            ("a.md", "b.md", 2),
            ("a.md", "missing note", 1),
            ("b.md", "a.md", 1),
            ("b.md", "dir/c.md", 1),
            ("dir/c.md", "dir/photo.png", 1),
            ("dir/d.md", "dir/c.md", 1),
        }
        assert graph["total_nodes"] == 6
        assert "note" not in graph
        first = graph["nodes"][0]
        assert (first["path"], first["links"], first["backlinks"]) == ("a.md", 3, 1)
        assert (first["tags"], first["depth"]) == (["x/y"], None)
        assert first["etag"]

    @pytest.mark.parametrize(
        ("depth", "inside"),
        [
            (1, {"a.md": 1, "b.md": 0, "dir/c.md": 1}),
            (
                2,
                {
                    "a.md": 1,
                    "b.md": 0,
                    "dir/c.md": 1,
                    "dir/d.md": 2,
                    "dir/photo.png": 2,
                    "missing note": 2,
                },
            ),
        ],
    )
    def test_around_a_note_links_are_followed_both_ways(
        self, world: World, depth: int, inside: dict[str, int]
    ) -> None:
        graph = self.graph(world, path="b.md", depth=depth)

        assert {node["path"]: node["depth"] for node in graph["nodes"]} == inside
        assert graph["nodes"][0]["path"] == "b.md"

    def test_links_among_the_outermost_are_drawn_too(self, world: World) -> None:
        world.write(vault_of(world), "e.md", "[[dir/c]] [[a]]")

        graph = self.graph(world, path="dir/c.md")

        assert ("dir/d.md", "dir/c.md", 1) in self.edges(graph)
        assert {"e.md", "b.md"} <= {node["path"] for node in graph["nodes"]}
        assert "a.md" not in {node["path"] for node in graph["nodes"]}

    def test_scope_narrows_to_a_directory_or_widens_to_the_vault(self, world: World) -> None:
        def nodes(**arguments: Any) -> set[str]:  # noqa: ANN401
            return {node["path"] for node in self.graph(world, **arguments)["nodes"]}

        in_dir = {"dir/c.md", "dir/d.md", "dir/photo.png"}
        assert nodes(scope="dir/") == nodes(scope="dir") == in_dir
        assert nodes(scope="dir", path="b.md", depth=3) == in_dir | {"b.md"}
        assert nodes(scope="global", path="b.md") == nodes()
        assert nodes(scope="local", path="island.md") == {"island.md"}
        with pytest.raises(InvalidRequestError, match="graph_needs_path"):
            nodes(scope="local")

    def test_a_tag_leaves_the_notes_that_have_it_or_one_below(self, world: World) -> None:
        world.write(vault_of(world), "alone.md", "no link", tags=("x",))

        graph = self.graph(world, tag="X")

        paths_ = {node["path"] for node in graph["nodes"]}
        assert paths_ == {"a.md", "b.md", "dir/c.md", "alone.md", "missing note"}
        around = self.graph(world, tag="x", path="dir/d.md", depth=5)
        assert {node["path"] for node in around["nodes"]} == {
            "dir/d.md",
            "dir/c.md",
            "b.md",
            "a.md",
            "missing note",
        }

    def test_a_note_the_index_does_not_know_is_not_found(self, world: World) -> None:
        with pytest.raises(NotFoundError, match="file_not_found"):
            self.graph(world, path="nobody.md")

    def test_more_than_the_limit_is_cut_at_the_least_linked_and_told(self, world: World) -> None:
        graph = self.graph(world, limit=2)

        assert [node["path"] for node in graph["nodes"]] == ["a.md", "b.md"]
        assert self.edges(graph) == {("a.md", "b.md", 2), ("b.md", "a.md", 1)}
        assert "2" in graph["note"]
        assert "6" in graph["note"]

    def test_a_large_graph_fits_a_result_and_keeps_its_edges_whole(self, world: World) -> None:
        notes = vault_of(world)
        for number in range(300):
            world.write(notes, f"n/{number}.md", f"[[hub]] [[{(number * 7) % 300}]]")
        world.write(notes, "hub.md", "")

        result = world.result("get_graph", {"vault": "notes", "path": "hub.md", "limit": 300})

        assert result.truncated
        assert len(json.dumps(result.value, ensure_ascii=False)) <= MAX_TOOL_RESULT_CHARS
        shown = {node["path"] for node in result.value["nodes"]}
        assert result.value["nodes"][0]["path"] == "hub.md"
        assert len(shown) > 10
        assert {end for s, t, _ in self.edges(result.value) for end in (s, t)} <= shown
        assert "301" in result.value["note"]

    def test_a_deleted_note_is_left_out_with_its_links(self, world: World) -> None:
        notes = vault_of(world)
        entry = world.catalogue.get(notes, VaultPath("b.md"))
        assert entry
        assert world.catalogue.advance(replace(entry, state=IndexState.DELETED), previous=entry)

        graph = self.graph(world)

        assert "b.md" not in {node["path"] for node in graph["nodes"]}
        assert all("b.md" not in edge for edge in self.edges(graph))
