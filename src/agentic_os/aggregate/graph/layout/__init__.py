"""Where projects and files lie in the picture of the graph, kept and renewed by the project."""
