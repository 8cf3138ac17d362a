"""What every test run shares: an option under which nothing is skipped silently."""

from collections.abc import Generator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="a test that is skipped fails, unless it reads data outside the repository (corpus): "
        "for machines that should have everything installed",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    allowed = hasattr(report, "wasxfail") or item.get_closest_marker("corpus") is not None
    if report.skipped and not allowed and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"Skipped in a run that allows no skips: {report.longrepr}"
    return report
