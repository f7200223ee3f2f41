"""What a package says of itself: its manifest, its interfaces and their operations."""
