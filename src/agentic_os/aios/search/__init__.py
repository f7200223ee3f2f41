"""Search over the folder: scopes, streams, phases, matching, snippets, omissions."""
