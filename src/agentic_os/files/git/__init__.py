"""A ``.git`` folder read without running git: checkout, configuration, ignore rules, index."""
