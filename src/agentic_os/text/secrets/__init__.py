"""Secrets found and masked: rules, assignments, judging, redaction of text and of values."""
