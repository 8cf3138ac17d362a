"""The operations guide lists what the template really has."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
TEMPLATE = (ROOT / "template.yaml").read_text(encoding="utf-8")


def test_every_parameter_is_explained_and_none_is_invented() -> None:
    section = TEMPLATE.split("\nParameters:\n")[1].split("\nConditions:\n")[0]
    parameters = set(re.findall(r"^  (\w+):", section, re.MULTILINE))

    explained = set(re.findall(r"^\| `([A-Z]\w+)` \|", GUIDE, re.MULTILINE))

    assert explained == parameters


def test_every_function_is_listed() -> None:
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}

    listed = set(re.findall(r"^\| `([a-z]\w+)` \|", GUIDE, re.MULTILINE))

    assert functions <= listed
