"""The front door: what API Gateway's REST API does for a deployment, in front of warm workers."""
