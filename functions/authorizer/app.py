"""The authorizer function: the front door asks it who may pass."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.authorizer import build_authorizer

handler = build_authorizer(lambda: container().front_door_verifier)
