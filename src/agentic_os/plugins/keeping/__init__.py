"""What is kept of plugins: the person's policy, packages, state, and compiled code."""
