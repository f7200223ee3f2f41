"""Resolve an intent: skills, tools, the verified project."""
