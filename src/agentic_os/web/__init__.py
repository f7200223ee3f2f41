"""The page: the fleet, its answers, its graph and its ledger in a browser, on loopback only.

It renders the documents that the commands print, made by the same service functions, and reads no
store by itself. ``gate`` says who may ask, ``documents`` what is answered, ``live`` when something
changed, ``shells`` and ``static`` what the browser loads; ``serving`` runs it.
"""
