"""The rules of every writer of the AIOS folder: containment, replacement, locks, plans, undo.

Nothing outside this folder changes the disk; import-linter and a test say so. A verb computes
a plan of targets and their new bytes, and these functions carry it out (DotAIOS convention,
rules for every writer).
"""
