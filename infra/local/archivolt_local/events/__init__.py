"""What calls functions besides requests: queues and the clock."""
