"""AWS Step Functions."""
