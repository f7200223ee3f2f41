"""Graph questions: find, neighbours, paths, impact, links, analytics, export."""
