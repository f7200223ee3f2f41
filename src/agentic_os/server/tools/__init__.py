"""The MCP tools: definitions, calls, envelopes, paging."""
