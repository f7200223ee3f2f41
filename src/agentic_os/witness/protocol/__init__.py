"""What service and client both speak.

Bookmarks, add-checkpoint, refusals, the operator's root.
"""
