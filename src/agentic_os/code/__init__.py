"""Sources and manifests, read as text: imports, symbols, uses, routes, packages, passages.

``values`` says what is found; ``reading.read_source`` and ``manifests.reading.read_manifest`` find
it. The grammars are loaded by the readers alone, since a fleet without graphs never needs them.
"""
