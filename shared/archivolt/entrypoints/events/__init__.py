"""Queues and schedules."""
