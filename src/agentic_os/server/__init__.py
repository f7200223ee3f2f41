"""Answers for harnesses over MCP: tools, resources, prompts; hooks; client set-up.

Import from the modules; this package re-exports nothing, so that a hook never loads what the MCP
server needs.
"""
