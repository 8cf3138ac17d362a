"""What a server of the older era asks amid a call, and what it is told (decision 66)."""

import hashlib
from dataclasses import dataclass, field

import mcp_types as types

from archivolt.adapters.mcp.readings import content_of, question_of
from archivolt.domain.errors import ArchivoltError, InvalidRequestError
from archivolt.domain.federation import McpAnswers, McpQuestion
from archivolt.domain.federation_limits import MAX_MCP_QUESTIONS

_CANCEL = types.ElicitResult(action="cancel")


@dataclass(slots=True)
class Asked:
    """What a server asked during one call; `answers` are the person's to what it asked before."""

    server: str
    answers: McpAnswers | None
    questions: list[McpQuestion] = field(default_factory=list[McpQuestion])
    refused: ArchivoltError | None = None

    def answer(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        """Return what it is told; a question that a person has to be asked is kept."""
        if len(self.questions) >= MAX_MCP_QUESTIONS:
            return _CANCEL
        # The same words are the same question: there is nothing else to know it by.
        name = hashlib.sha256(params.message.encode("utf-8", "replace")).hexdigest()[:12]
        if self.answers is not None and name in self.answers.content:
            content = content_of(self.answers.content[name])
            return types.ElicitResult(action="accept", content=content)
        try:
            self.questions.append(question_of(self.server, name, params))
        except InvalidRequestError as error:
            self.refused = error
        return _CANCEL
