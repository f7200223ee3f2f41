"""Bounded memory: old events and signals move to archives, line by line as they are."""
