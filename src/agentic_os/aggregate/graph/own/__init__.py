"""A code graph of our own, for projects without one: made from what their sources say."""
