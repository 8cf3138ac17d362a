"""A request as a model without tools is asked it: results as text, the protocol in the rules."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from archivolt.adapters.text_actions.blocks import ACTIONS, block
from archivolt.domain.language import Language, Message
from archivolt.domain.limits import MAX_QUERY_CHARS
from archivolt.domain.promptings import PROMPTINGS
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelToolCall

SEARCH: Final = "search_documents"

_PROTOCOL: Final = Message(
    """\
You have no tools: the documents were searched for you, and what was found is in the question. To
create a file or a directory, and for nothing else, write a block like this one; the person is shown
the change and decides, and you are told what came of it:

```obsigate-action
{"action": "create_file", "vault": "name", "path": "folder/note.md", "content": "text"}
```

`create_directory` takes "vault" and "path".
""",
    """\
Tu n'as pas d'outils : les documents ont été interrogés pour toi, et ce qui a été trouvé est dans la
question. Pour créer un fichier ou un répertoire, et rien d'autre, écris un bloc comme celui-ci.
La personne voit le changement et décide, et tu apprends ce qu'il en est :

```obsigate-action
{"action": "create_file", "vault": "nom", "path": "dossier/note.md", "content": "texte"}
```

`create_directory` prend "vault" et "path".
""",
)
_ENVELOPE: Final = re.compile(r"<data source=[^>]*>.*?</data>", re.DOTALL)


def search_first(request: ModelRequest) -> ModelToolCall | None:
    """Return the search for what the person asks; None once it was made, or cannot be."""
    last = request.messages[-1]
    if request.answer_only or last.role != "user" or SEARCH not in _names(request):
        return None
    if last.text in PROMPTINGS:
        return None
    query = " ".join(_ENVELOPE.sub(" ", last.text).split())[:MAX_QUERY_CHARS]
    if not query:
        return None
    return ModelToolCall(id="", name=SEARCH, arguments=json.dumps({"q": query}))


def without_tools(request: ModelRequest) -> ModelRequest:
    """Return the request as text alone; people and model take turns in it."""
    told = list(_as_text(request.messages))
    if not request.answer_only and _names(request).issuperset(ACTIONS):
        rules = _PROTOCOL.spoken(Language(request.language))
        told[0] = replace(told[0], text=f"{told[0].text}\n{rules}")
    return replace(request, messages=_alternating(told), tools=(), answer_only=False)


def _as_text(messages: Sequence[ModelMessage]) -> Iterable[ModelMessage]:
    for message in messages:
        if message.role == "tool":
            yield ModelMessage(role="user", text=message.text)
        elif message.role == "assistant":
            blocks = [block(call) for call in message.tool_calls if call.name in ACTIONS]
            yield ModelMessage(role="assistant", text="\n\n".join([message.text, *blocks]).strip())
        else:
            yield message


def _alternating(messages: Iterable[ModelMessage]) -> tuple[ModelMessage, ...]:
    kept: list[ModelMessage] = []
    for message in messages:
        if not (message.text or message.images):
            continue
        if kept and kept[-1].role == message.role:
            text = f"{kept[-1].text}\n\n{message.text}"
            images = (*kept[-1].images, *message.images)
            kept[-1] = replace(kept[-1], text=text, images=images)
        else:
            kept.append(message)
    return tuple(kept)


def _names(request: ModelRequest) -> frozenset[str]:
    return frozenset(str(tool["function"]["name"]) for tool in request.tools)
