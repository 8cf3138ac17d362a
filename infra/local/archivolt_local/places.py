"""Where things are: the repository the stack runs from, and the folder that holds its data."""

from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
TEMPLATE = REPOSITORY / "template.yaml"
SAMPLE_VAULT = Path(__file__).parent / "sample_vault"
MINISTACK_PYTHON = REPOSITORY / ".tools" / "ministack" / "bin" / "python"
DYNAMODB_LOCAL = REPOSITORY / ".tools" / "dynamodb-local"


@dataclass(frozen=True)
class DataFolder:
    """The layout of DATA. Everything the stack keeps is below `root`."""

    root: Path

    @property
    def lock(self) -> Path:
        """Held by the running stack."""
        return self.root / "lock"

    @property
    def keys(self) -> Path:
        """The keys made for this stack."""
        return self.root / "keys.json"

    @property
    def connection(self) -> Path:
        """How a person or a program connects (contract: Starting)."""
        return self.root / "connection.json"

    @property
    def stack(self) -> Path:
        """What was provisioned, and where its processes listen."""
        return self.root / "stack.json"

    @property
    def emulator(self) -> Path:
        """The AWS emulator's state."""
        return self.root / "aws"

    @property
    def tables(self) -> Path:
        """DynamoDB Local's database."""
        return self.root / "tables"

    @property
    def vectors(self) -> Path:
        """The vector store's collections."""
        return self.root / "vectors"

    @property
    def mirrors(self) -> Path:
        """What each mirrored folder wrote into its vault."""
        return self.root / "mirrors"

    @property
    def logs(self) -> Path:
        """One log for each process."""
        return self.root / "logs"

    @property
    def scratch(self) -> Path:
        """The functions' temporary folders; emptied at each start."""
        return self.root / "scratch"
