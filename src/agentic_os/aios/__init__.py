"""The AIOS folder: a person's context, read whole, bounded and fail-closed."""
