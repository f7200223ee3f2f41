"""Edges that imports prove, one module a language, and the names that each language resolves."""
