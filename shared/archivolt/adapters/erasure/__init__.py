"""What removes the data of a conversation, a user, a vault or a tenant from every store."""
