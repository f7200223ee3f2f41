"""Embedders: texts in, unit vectors out, and the models they read from.

``interface`` is what the rest of the tier knows. ``onnx_embedder`` runs prepared models without
torch; ``reference`` is sentence-transformers, imported only where it is chosen. ``prepare`` puts
models on the ``shelf``; ``selection`` opens one by name. Design decision 14.
"""
