"""Markdown structure: sections, links, tables, code."""
