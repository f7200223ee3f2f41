"""The folder on disk.

Its root, bounded reading, configuration, eligibility, and the reading allowance.
"""
