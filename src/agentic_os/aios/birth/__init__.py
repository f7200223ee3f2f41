"""A folder's birth and its schema: the tree that init makes, and migration from older ones."""
