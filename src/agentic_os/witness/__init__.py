"""The witness: a service that detects rollback, truncation and forks from hashes alone."""
