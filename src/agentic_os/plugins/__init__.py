"""Plugins: signed packages, who vouches for them, and the sandbox in which they run.

Knows nothing of ledgers, identities or projects: what a plugin may reach beyond itself comes
through the ports of ``rights.ports``, which command line and server fill.
"""
