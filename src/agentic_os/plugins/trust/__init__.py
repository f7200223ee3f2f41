"""Who vouches for a package: trust objects, pinned roots, revocation, and the tier that follows."""
