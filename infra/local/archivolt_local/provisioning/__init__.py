"""From `template.yaml` to running resources, on one machine."""
