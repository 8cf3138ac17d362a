"""Keeps links pointing at what they pointed at while files move.

For every link in every note: what it means afterwards is where the file went that it meant before.
A link that meant nothing is left alone, and so is one that still means the same file. The way a
link is written is kept as far as it can be: a name stays a name, a path a path, a relative path a
relative one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.link_writing import can_name, with_target
from archivolt.domain.note_links import LinkKind, NoteLink, link_key, written_links
from archivolt.domain.paths import VaultPath, name_of

_NOTE = ".md"

Named = Callable[[Sequence[str]], Collection[VaultPath]]


class Relocation:
    """Files that move, among the files of their vault.

    `moves` gives the new path of each. `named` finds the present files of some link keys; it may
    know of both places of what has moved already, or of one.
    """

    def __init__(self, moves: Mapping[VaultPath, VaultPath], named: Named) -> None:
        self.moves = moves
        self._named = named
        self._around: dict[str, list[VaultPath]] = {}

    @cached_property
    def keys(self) -> list[str]:
        """The keys of links whose meaning the moves may change, those in moved notes apart."""
        paths = (*self.moves, *self.moves.values())
        return sorted({link_key(path) for path in paths})

    def prepare(self, keys: Collection[str]) -> None:
        """Look up the files of these keys at once, before links of them are asked about.

        Threads may share this: a key is known to others once all of its files are.
        """
        missing = sorted(set(keys) - self._around.keys())
        found: dict[str, list[VaultPath]] = {key: [] for key in missing}
        gone = {*self.moves, *self._targets}
        for path in self._named(missing) if missing else ():
            if path not in gone and (key := link_key(path)) in found:
                found[key].append(path)
        self._around |= found

    def moved(self, path: VaultPath) -> VaultPath:
        """Return where a file is afterwards."""
        return self.moves.get(path, path)

    def wanted(self, link: NoteLink, source: VaultPath) -> VaultPath | None:
        """Return the file that a link of the note, until now at `source`, has to be made to mean.

        None if it may stay as it is.
        """
        before = self._before(link.target, source) if link.target else None
        if before is None:
            return None
        wanted = self.moved(before)
        fits = self._fitting(link, source, before, wanted)
        return None if fits(link.target) else wanted

    def rewritten(self, text: str, source: VaultPath) -> str:
        """Return the text of a note, until now at `source`, with its links made to follow."""
        found = written_links(text)
        self.prepare({written.link.key for written in found})
        pieces: list[str] = []
        position = 0
        for written in sorted(found, key=lambda each: each.start):
            wanted = self.wanted(written.link, source)
            target = wanted and self._new_target(written.link, source, wanted)
            change = with_target(text, written, target) if target else None
            if change is not None:
                start, end, new = change
                pieces += [text[position:start], new]
                position = end
        return "".join((*pieces, text[position:]))

    @cached_property
    def _targets(self) -> frozenset[VaultPath]:
        return frozenset(self.moves.values())

    @cached_property
    def _moving(self) -> Mapping[str, tuple[list[VaultPath], list[VaultPath]]]:
        """By key: the moving files of that name before, and those that have it afterwards."""
        moving: dict[str, tuple[list[VaultPath], list[VaultPath]]] = {}
        for old, new in self.moves.items():
            moving.setdefault(link_key(old), ([], []))[0].append(old)
            moving.setdefault(link_key(new), ([], []))[1].append(new)
        return moving

    def _candidates(self, target: str, *, after: bool) -> list[VaultPath]:
        key = link_key(target)
        self.prepare([key])
        moving = self._moving.get(key, ([], []))
        return [*self._around[key], *moving[after]]

    def _before(self, target: str, source: VaultPath) -> VaultPath | None:
        return resolve_link(target, source, self._candidates(target, after=False))

    def _after(self, target: str, source: VaultPath) -> VaultPath | None:
        return resolve_link(target, self.moved(source), self._candidates(target, after=True))

    def _fitting(
        self, link: NoteLink, source: VaultPath, before: VaultPath, wanted: VaultPath
    ) -> Callable[[str], bool]:
        """Return what tells whether a target means `wanted` afterwards.

        A Markdown link that is right for programs that read it relative to its note stays so, a
        link that is right where case counts too, and a whole path stays one.
        """
        relative = _is_beside(link, source, before)
        whole = not relative and "/" in link.target and _is_path(link.target, before)
        cased = _is_end(link.target, before)

        def fits(target: str) -> bool:
            return (
                self._after(target, source) == wanted
                and (not cased or _is_end(target, wanted))
                and (not whole or _is_path(target, wanted))
                and (not relative or _joined(target, self.moved(source)) in _names_of(wanted))
            )

        return fits

    def _new_target(self, link: NoteLink, source: VaultPath, wanted: VaultPath) -> str | None:
        before = self._before(link.target, source)
        if before is None:
            return None
        fits = self._fitting(link, source, before, wanted)
        short = before.endswith(_NOTE) and not link.target.casefold().endswith(_NOTE)
        shown = _without_extension(wanted) if short and can_name(link, wanted) else wanted
        if _is_relative(link.target) or _is_beside(link, source, before):
            forms = _relative_forms(link, shown, self.moved(source))
        else:
            forms = _path_forms(link.target, shown, before)
        full = (shown, f"/{shown}", wanted, f"/{wanted}")
        climbing = _relative_forms(link, wanted, self.moved(source))
        return next((form for form in (*forms, *full, *climbing) if fits(form)), None)


def _is_relative(target: str) -> bool:
    return target.startswith(("./", "../"))


def _names_of(path: VaultPath) -> tuple[str, str]:
    """Return a path with and without the extension that a link may leave out."""
    return path, _without_extension(path)


def _is_path(target: str, path: VaultPath) -> bool:
    return target.removeprefix("/") in _names_of(path)


def _is_end(target: str, path: VaultPath) -> bool:
    """Tell whether a target has the last names of a path, letter by letter."""
    names = [name for name in target.split("/") if name not in {"", ".", ".."}]
    ending = "/" + "/".join(names)
    return any(f"/{name}".endswith(ending) for name in _names_of(path))


def _is_beside(link: NoteLink, source: VaultPath, path: VaultPath) -> bool:
    """Tell whether a link is right when read relative to the folder of its note."""
    rooted = link.target.startswith("/")
    if rooted or (link.kind is not LinkKind.MARKDOWN and not _is_relative(link.target)):
        return False
    return _joined(link.target, source) in _names_of(path)


def _joined(target: str, source: VaultPath) -> str:
    """Return a path relative to the folder of `source` as one from the root; "" is outside."""
    names = [] if target.startswith("/") else source.split("/")[:-1]
    for name in target.removeprefix("/").split("/"):
        if name == ".." and not names:
            return ""
        if name == "..":
            names = names[:-1]
        elif name != ".":
            names.append(name)
    return "/".join(names)


def _without_extension(path: str) -> str:
    return path.removesuffix(_NOTE)


def _relative_forms(link: NoteLink, path: str, source: VaultPath) -> Iterator[str]:
    """Yield `path` relative to the folder of `source`; with `./` first where the link is so."""
    folder = source.split("/")[:-1]
    names = path.split("/")
    same = 0
    while same < min(len(folder), len(names) - 1) and folder[same] == names[same]:
        same += 1
    plain = "/".join([".."] * (len(folder) - same) + names[same:])
    forms = [plain] if plain.startswith("../") else [plain, f"./{plain}"]
    dotted = link.target.startswith("./") or link.kind is not LinkKind.MARKDOWN
    yield from reversed(forms) if dotted else forms


def _path_forms(target: str, path: str, before: VaultPath) -> Iterator[str]:
    """Yield `path` with as many names as the link had, unless it had all: a name, a path."""
    names = target.removeprefix("/").split("/")
    whole = len(names) == len(before.split("/"))
    if target.startswith("/"):
        yield f"/{path}"
    elif len(names) == 1:
        yield name_of(path)
    elif not whole:
        yield "/".join(path.split("/")[-len(names) :])
