"""What takes home all that a world holds of somebody."""

from archivolt.chat.taking_home import HeldOfPerson, TakingHome
from archivolt.ports.oauth import OAuthGrantStore
from archivolt.ports.personal_tokens import PersonalTokenStore
from archivolt.ports.runs import RunStore
from archivolt.ports.schedules import ScheduleStore
from tests.chat_world import ChatWorld
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.fakes.runs import InMemoryRuns
from tests.fakes.schedules import InMemorySchedules


def taking_home_of(
    world: ChatWorld,
    *,
    runs: RunStore | None = None,
    schedules: ScheduleStore | None = None,
    tokens: PersonalTokenStore | None = None,
    grants: OAuthGrantStore | None = None,
    most: int = 1_000_000,
) -> TakingHome:
    """Return it; at most so many bytes of documents are taken."""
    return TakingHome(
        HeldOfPerson(
            conversations=world.conversations,
            runs=lambda: runs or InMemoryRuns(),
            schedules=lambda: schedules or InMemorySchedules(),
            skills=lambda: world.kept_skills,
            settings=world.user_settings,
            ledger=lambda: world.books,
            tokens=lambda: tokens or InMemoryPersonalTokens(),
            grants=lambda: grants or InMemoryOAuthGrants(),
            accounts=lambda: world.mcp_accounts.store,
            vaults=world.directory,
            files=world.store,
            clock=world.clock,
            places=world.places,
        ),
        most=most,
    )
