"""The retrieval surfaces and the router that degrades by tier.

``route`` asks each surface and fuses; ``index`` is the semantic one, ``graph`` the code graphs,
``engines`` a project's own; ``confirm`` reads each hit's file again.
"""
