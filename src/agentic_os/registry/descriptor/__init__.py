"""One descriptor parsed.

Layouts, fields, memory block, record, containment, what was known before.
"""
