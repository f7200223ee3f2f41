"""The witness's decision, pure: state, cases, claims, tables."""
