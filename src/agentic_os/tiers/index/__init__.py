"""The central vector index: chunks, building, the vector table, status, the semantic surface."""
