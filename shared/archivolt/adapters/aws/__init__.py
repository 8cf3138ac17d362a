"""What every AWS adapter shares: clients and errors."""
