"""The edges between projects: what each side provides and uses, and the rule that joins them."""
