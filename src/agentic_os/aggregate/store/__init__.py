"""The fleet's database: the space it lies in, its schema, its connections."""
