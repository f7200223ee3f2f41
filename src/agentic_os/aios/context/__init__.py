"""The bounded working context.

What is selected, how much fits, and the text that a harness gets.
"""
