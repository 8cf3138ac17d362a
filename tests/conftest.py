"""What every test run shares: an option under which nothing is skipped silently, and no clock."""

import os
import sys
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# As the template says to the functions; numpy's library reads it when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251  before any test imports it

# How long an example takes, says how busy the machine is. Who changed nothing sees the examples of
# before: who looks for others, asks for more of them (`STATEFUL_EXAMPLES`).
settings.register_profile(
    "any_machine",
    settings.default,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any_machine")

_MAY_BE_ABSENT = ("corpus", "optional_engine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="a test that is skipped fails, unless it reads data outside the repository (corpus) "
        "or drives an engine that the product does not install (optional_engine): for machines "
        "that should have everything installed",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Before 3.12 asyncio hears of a child's end from a thread, on a busy machine once its loop is
    # closed: the child is gone, and its object takes it for running. Later Pythons hold them all.
    if sys.version_info < (3, 12):
        unheard = r"ignore:Exception ignored in. <function Popen\.__del__"
        config.addinivalue_line(
            "filterwarnings", f"{unheard}:pytest.PytestUnraisableExceptionWarning"
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    allowed = hasattr(report, "wasxfail") or any(map(item.get_closest_marker, _MAY_BE_ABSENT))
    if report.skipped and not allowed and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"Skipped in a run that allows no skips: {report.longrepr}"
    return report
