"""Which files of a repository speak to agents, whatever their name: one table for each surface.

``instructions``, ``memories`` and ``capabilities`` are the tables (a new harness is one row and one
fixture), ``matching`` finds their files by listing and never by reading.
"""
