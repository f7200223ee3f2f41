"""Canonical JSON: values, the one text of each, and the strict reader."""
