"""Bounded no-follow reads, atomic publishing, places on disk, and ``.git`` read without git."""
