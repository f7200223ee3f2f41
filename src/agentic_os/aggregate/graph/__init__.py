"""The union of the code graphs.

Its values, its tables, what one project's rows hold, and the links between projects.
"""
