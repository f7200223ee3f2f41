"""Discovery: walking the roots, listing folders, pruning, the enclosing project."""
