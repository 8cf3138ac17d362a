"""The deployed template, transformed as AWS would do it, in this process."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from archivolt_local.provisioning.sam import parse_template, transform

Resource = Mapping[str, Any]

# Folders are meaningless to the transform: code runs from source, not from an archive.
_NOWHERE = "s3://local/none.zip"
_CODE_KEYS = {
    "AWS::Serverless::Function": "CodeUri",
    "AWS::Serverless::LayerVersion": "ContentUri",
    "AWS::Serverless::StateMachine": "DefinitionUri",
}


@dataclass(frozen=True)
class Template:
    """A transformed template, the folder of each function's code, and each state machine's text."""

    document: Mapping[str, Any]
    folders: Mapping[str, Path]
    machines: Mapping[str, str]

    @property
    def resources(self) -> Mapping[str, Resource]:
        """Every resource by its logical id."""
        return self.document["Resources"]

    def of_type(self, *kinds: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the logical id and properties of the resources of these types."""
        for name, resource in self.resources.items():
            if resource["Type"] in kinds:
                yield name, resource.get("Properties", {})


def load_template(path: Path, parameters: Mapping[str, str]) -> Template:
    """Read and transform a SAM template.

    Raises:
        StartError: It is not a valid one.

    """
    source = parse_template(path.read_text(encoding="utf-8"))
    folders: dict[str, Path] = {}
    machines: dict[str, str] = {}
    for name, resource in source["Resources"].items():
        key = _CODE_KEYS.get(resource["Type"])
        if key is None:
            continue
        place = path.parent / resource["Properties"][key]
        if key == "CodeUri":
            folders[name] = place
        elif key == "DefinitionUri":
            machines[name] = place.read_text(encoding="utf-8")
        resource["Properties"][key] = _NOWHERE
    return Template(transform(source, parameters), folders, machines)
