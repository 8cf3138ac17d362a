"""Going on with runs whose execution is gone, from our own records.

An engine may forget: an emulator that restarts, an execution that an operator ended. What a run
needs is all in its records, so another execution takes it up; the one before may not go on.
"""

from dataclasses import replace

from archivolt.domain.errors import ArchivoltError, ConflictError, NotFoundError
from archivolt.domain.run import Run
from archivolt.observability import failure, logger
from archivolt.runs.support import RunSupport


def resumed(on: RunSupport, run: Run) -> Run:
    """Have another execution work on a run, unless one does; return the run as it is kept.

    Raises:
        UnavailableError: It cannot be kept or driven now.

    """
    current = on.store.get(run.tenant, run.id)
    if current.status.over or on.engine.works_on(current):
        return current
    try:
        current = on.store.save(replace(current, execution=current.execution + 1, history=0))
    except ConflictError:
        return current  # somebody else goes on with it
    on.engine.start(current)
    return current


class RunSweep:
    """Looks after the runs of all tenants that nobody works on."""

    def __init__(self, on: RunSupport) -> None:
        self._on = on

    def sweep(self) -> int:
        """Go on with every run that is not over and that no execution works on; return how many."""
        count = 0
        for tenant, run_id in list(self._on.store.unfinished()):
            try:
                run = self._on.store.get(tenant, run_id)
                count += resumed(self._on, run).execution != run.execution
            except NotFoundError:
                continue
            except ArchivoltError as error:
                # One that cannot be taken up now does not keep the others.
                logger.warning("run not resumed", extra={"run": run_id, **failure(error)})
        return count
