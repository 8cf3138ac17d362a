"""One Protocol per collaborator, in our words."""
