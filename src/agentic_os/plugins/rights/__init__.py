"""What a guest may ask of the host: rights, asked on each call, and what the host then does."""
