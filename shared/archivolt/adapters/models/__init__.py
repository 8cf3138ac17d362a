"""What is known of providers' models, as a table that is shipped."""
