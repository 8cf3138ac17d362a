"""Amazon EventBridge Scheduler."""
