"""Source files cut into passages for the index.

Admission, outline, headings, windows, density.
"""
