"""Following one reference to its source, page by page."""
