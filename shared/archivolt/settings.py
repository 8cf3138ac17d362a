"""The only module that reads the environment."""

import os
from decimal import Decimal
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from archivolt.domain import limits
from archivolt.domain.retention_limits import ERASURE_SETTLE_SECONDS

_RerankerProvider = Literal["", "rerank", "tei", "cloudflare"]
_EmbeddingProvider = Literal["", "embedded", "e5", "cloudflare", "openai"]


def _zero_if_empty(value: object) -> object:
    return 0 if value == "" else value


# A deployment passes every parameter on, an empty one too.
_Count = Annotated[int, BeforeValidator(_zero_if_empty), Field(ge=0)]
_Cosine = Annotated[float, BeforeValidator(_zero_if_empty), Field(ge=0, le=1)]


_Price = Annotated[
    Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | None,
    BeforeValidator(lambda value: None if value == "" else value),
]


class MissingSettingError(RuntimeError):
    """The deployment does not say what a collaborator needs."""


class EmbeddingChoice(BaseModel):
    """Which model makes vectors, and where it is; what is empty or 0 is the provider's default."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: _EmbeddingProvider = ""
    model: str = ""
    base_url: str = ""
    account: str = ""
    api_key: str = Field(default="", repr=False)
    dimension: _Count = 0
    threshold: _Cosine = 0
    max_tokens: _Count = 0
    # US dollars for a million tokens; "" where the table of models knows.
    price: _Price = None
    # The file of its tokenizer; "" for the bound that needs none.
    tokenizer: str = ""


class RerankerChoice(BaseModel):
    """Which model orders passages anew, and where it is; without a provider none does."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: _RerankerProvider = ""
    model: str = ""
    base_url: str = ""
    account: str = ""
    api_key: str = Field(default="", repr=False)


class Settings(BaseModel):
    """What the deployment tells a function. Field names are the variables' names, lower-cased.

    Every field has a default so that a handler can be imported with an empty environment; a
    collaborator that needs a missing one says so when it is first built.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    control_table: str = ""
    conversations_table: str = ""
    confirmations_table: str = ""
    ledger_table: str = ""
    catalogue_table: str = ""
    audit_table: str = ""
    documents_bucket: str = ""
    embedding_queue_url: str = ""
    backfill_queue_url: str = ""
    sync_queue_url: str = ""
    erasure_queue_url: str = ""
    # For how long an erasure waits before it reads back for the last time.
    erasure_settle_seconds: _Count = ERASURE_SETTLE_SECONDS
    # The state machine of agent runs.
    agent_run_machine_arn: str = ""
    # The state machine that tells webhooks of them.
    webhook_machine_arn: str = ""
    # What fires the schedules of runs: a group of EventBridge Scheduler, what it calls and as whom,
    # and where a call goes that fails for good.
    agent_schedule_group: str = ""
    agent_function_arn: str = ""
    agent_schedule_role_arn: str = ""
    agent_schedule_dead_letters_arn: str = ""
    # The role in which a worker does a tenant's work; "" for the function's own (R4).
    tenant_role_arn: str = ""

    qdrant_url: str = ""
    qdrant_api_key: str = ""

    # The fields of `EmbeddingChoice`; the model that was chosen before, as a JSON object of them.
    embedding_provider: _EmbeddingProvider = ""
    embedding_model: str = ""
    embedding_base_url: str = ""
    embedding_account: str = ""
    embedding_api_key: str = Field(default="", repr=False)
    embedding_dimension: _Count = 0
    embedding_threshold: _Cosine = 0
    embedding_max_tokens: _Count = 0
    embedding_price: _Price = None
    embedding_tokenizer: str = ""
    embedding_previous: str = Field(default="", repr=False)

    # The fields of `RerankerChoice`.
    reranker_provider: _RerankerProvider = ""
    reranker_model: str = ""
    reranker_base_url: str = ""
    reranker_account: str = ""
    reranker_api_key: str = Field(default="", repr=False)

    public_url: str = ""
    allowed_origins: str = ""

    auth_issuer: str = ""
    auth_audience: str = "archivolt"
    auth_jwks_url: str = ""
    auth_local_key: str = Field(default="", repr=False)
    auth_tenant_claim: str = "tenant"
    auth_role_claim: str = "role"
    # As whom we sign people in at the identity provider; no secret for a public client.
    auth_client_id: str = ""
    auth_client_secret: str = Field(default="", repr=False)
    auth_scopes: str = "openid"

    kms_key_id: str = ""
    user_store_encryption_key: str = Field(default="", repr=False)

    # Where usage is told of (S14).
    usage_event_bus: str = "default"

    outbound_allowed_hosts: str = ""
    # A SearXNG, "" for no web search; hosts of private networks whose pages may be read.
    archivolt_searxng_url: str = ""
    archivolt_fetch_allowed_hosts: str = ""

    # `auto`, `tesseract`, `rapidocr` or `none`; the folder of Tesseract's models, "" for its own.
    ocr_engine: str = "auto"
    ocr_models: str = ""
    # Where an Apache Tika server is, and what it reads: `all`, or what we do not.
    tika_url: str = ""
    tika_formats: str = ""

    # Whether MCP servers of others may be programs of this machine: never in Lambda.
    archivolt_mcp_stdio: bool = False

    chat_enabled: bool = False
    ai_default_provider: str = ""
    ai_default_model: str = ""
    # The tenant that the keys below serve (S10); on one machine they serve all.
    ai_key_tenant: str = ""
    deepseek_api_key: str = Field(default="", repr=False)
    deepseek_model: str = ""
    mistral_api_key: str = Field(default="", repr=False)
    mistral_model: str = ""
    openai_api_key: str = Field(default="", repr=False)
    openai_base_url: str = ""
    openai_model: str = ""
    openrouter_api_key: str = Field(default="", repr=False)
    openrouter_model: str = ""
    anthropic_api_key: str = Field(default="", repr=False)
    anthropic_model: str = ""
    gemini_api_key: str = Field(default="", repr=False)
    gemini_model: str = ""
    ollama_base_url: str = ""
    ollama_model: str = ""
    vllm_base_url: str = ""
    vllm_model: str = ""

    archivolt_tool_rate_limit: int = Field(default=limits.MAX_CALLS_PER_TOKEN, ge=1)
    archivolt_tool_rate_limit_per_tool: int = Field(default=limits.MAX_CALLS_PER_TOOL, ge=1)
    archivolt_tenant_rate_limit: int = Field(default=limits.MAX_CALLS_PER_TENANT, ge=1)
    archivolt_tool_rate_window: int = Field(default=limits.RATE_WINDOW_SECONDS, ge=1)
    bookslm_max_tool_calls: int = Field(default=limits.MAX_TOOL_CALLS, ge=1)
    bookslm_max_tool_read_bytes: int = Field(default=limits.MAX_READ_BYTES, ge=1)

    aws_endpoint_url: str = ""
    tmpdir: str = "/tmp"  # noqa: S108  the only writable folder of a Lambda function

    @property
    def embedding(self) -> EmbeddingChoice:
        """The model that makes vectors."""
        names = EmbeddingChoice.model_fields
        return EmbeddingChoice(**{name: getattr(self, f"embedding_{name}") for name in names})

    @property
    def previous_embedding(self) -> EmbeddingChoice | None:
        """The model that made them before, while it still serves.

        Raises:
            pydantic.ValidationError: The setting is no such object; its value is not shown.

        """
        previous = self.embedding_previous
        return EmbeddingChoice.model_validate_json(previous) if previous else None

    @property
    def reranker(self) -> RerankerChoice:
        """The model that orders passages anew."""
        names = RerankerChoice.model_fields
        return RerankerChoice(**{name: getattr(self, f"reranker_{name}") for name in names})

    @property
    def environment_tenant(self) -> str | None:
        """The one tenant that the environment's provider keys serve; None: all (decision 0014).

        A local key signs tokens on one machine only, and there the keys are the owner's.
        """
        return None if self.auth_local_key else self.ai_key_tenant

    @property
    def is_local(self) -> bool:
        """Whether people are those of one machine: there is no identity provider."""
        return bool(self.auth_local_key and not self.auth_jwks_url)

    @property
    def signs_in(self) -> bool:
        """Whether people can sign in in a browser, and so let programs in."""
        return bool(self.public_url and (self.is_local or self.auth_client_id))

    def required(self, name: str) -> str:
        """Return a setting that must not be empty.

        Raises:
            MissingSettingError: It is.

        """
        value = getattr(self, name)
        if not isinstance(value, str) or not value:
            raise MissingSettingError(f"{name.upper()} is not set")
        return value


@cache
def load_settings() -> Settings:
    """Read and validate the environment, once per execution environment.

    Raises:
        pydantic.ValidationError: A variable has a value of the wrong form; the value is not shown.

    """
    return Settings.model_validate({name.lower(): value for name, value in os.environ.items()})  # noqa: TID251
