"""JavaScript and TypeScript sources: imports, exports, symbols, HTTP calls and routes."""
