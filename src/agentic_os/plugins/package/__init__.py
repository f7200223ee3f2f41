"""The bytes of a package: its archive grammar, its layout, its hashes; nothing is trusted yet."""
