"""Sources and manifests, read as text: imports, symbols, uses, routes, packages."""
