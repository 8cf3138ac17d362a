"""The agent function: the steps of runs, as their state machine asks for them."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.agent import build_agent

handler = build_agent(lambda: container().runs.agent_services)
