"""What a request is measured at before it leaves: no less than a tokenizer could make of it."""

import json

import pytest

from archivolt.adapters.chat_models import provider_format
from archivolt.domain.providers import WireFormat
from archivolt.domain.tool import Declaration, Surface
from archivolt.governance.request_size import worst_case
from archivolt.ports.chat_model import ModelImage, ModelMessage, ModelRequest, ModelToolCall
from tests.world import World


def own_tools() -> list[Declaration]:
    specs = World().pipeline.registry.specs(Surface.IN_APP)
    return [spec.declaration for spec in specs]


def sent(*messages: ModelMessage, tools: list[Declaration] | None = None) -> ModelRequest:
    return ModelRequest(messages=messages, model="m-1", max_tokens=50, tools=tools or [])


@pytest.mark.parametrize("spoken", WireFormat)
def test_no_provider_is_sent_more_of_the_tools_than_was_measured(spoken: WireFormat) -> None:
    tools = own_tools()
    question = ModelMessage(role="user", text="?")

    body = provider_format(spoken).body(sent(question, tools=tools))

    declared = json.dumps(body["tools"], ensure_ascii=False, separators=(",", ":")).encode()
    with_tools, without = worst_case(sent(question, tools=tools)), worst_case(sent(question))
    assert len(tools) > 20
    assert with_tools.input - without.input >= len(declared)


def test_every_text_of_a_message_counts_by_its_bytes() -> None:
    call = ModelToolCall(id="é", name="né", arguments='{"q": "né"}')
    plain = ModelMessage(role="assistant")
    image = ModelImage(media_type="image/png", data="")
    full = ModelMessage(
        role="assistant",
        text="né",
        reasoning="é",
        echo="é\udc00",
        tool_call_id="cé",
        tool_calls=(call,),
        images=(image,),
    )

    more = worst_case(sent(full)).input - worst_case(sent(plain)).input

    assert more == 3 + 2 + 3 + 3 + (2 + 3 + 12) + 16 + 50_000


def test_a_declaration_is_made_and_measured_once() -> None:
    [spec, *_] = World().pipeline.registry.specs(Surface.IN_APP)

    assert spec.declaration is spec.declaration
    assert vars(spec.declaration).get("size", 0) in {0, spec.declaration.size}
    assert vars(spec.declaration)["size"] == spec.declaration.size
