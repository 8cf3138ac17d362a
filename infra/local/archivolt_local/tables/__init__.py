"""DynamoDB tables: Amazon's own DynamoDB Local where Java is there, the emulator's otherwise."""
