"""Python sources: imports, symbols, scopes, HTTP calls and routes."""
