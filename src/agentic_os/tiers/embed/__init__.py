"""Embedders: texts in, unit vectors out, and the models they read from.

``interface`` is what the rest of the tier knows. ``onnx`` runs prepared models without torch;
``sentence_transformers`` is the reference, imported only where it is chosen. ``prepare`` puts
models on the ``shelf``; ``selection`` opens one by name. Design decision 14.
"""
