"""JSON Schemas that strangers wrote, by the `jsonschema` library."""
