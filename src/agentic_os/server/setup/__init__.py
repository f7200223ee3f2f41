"""Set-up of harnesses: client entries, installation, the session hook."""
