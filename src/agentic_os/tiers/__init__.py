"""The retrieval surfaces, one file each, and the router that degrades by tier.

Import from the modules; this package re-exports nothing, so that asking memory never loads
what the semantic index needs.
"""
