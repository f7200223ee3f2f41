"""Which projects there are: discovery, descriptors, surfaces, identity, the fleet.

``fleet.load_fleet`` walks the roots, reads every descriptor and folds checkouts; a ``Fleet``
answers which project a word or a path means. ``descriptor.reading.parse_descriptor`` is pure,
``walk.walking.walk`` only lists, ``surfaces.survey`` only looks at names.
"""
