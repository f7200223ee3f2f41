"""Model weights read and laid out as an ONNX graph."""
