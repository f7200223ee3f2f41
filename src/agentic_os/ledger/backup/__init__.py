"""Encrypted backups: manifest, writing, restoring."""
