"""Preparing a model: from a hub, from a package's weights, from a local folder."""
