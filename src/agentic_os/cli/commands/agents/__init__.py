"""Commands for harnesses: serve, mcp, hook."""
