"""A project's own search engine, asked when the person granted it."""
