"""The witness service: desk, store, journal, keys, HTTP, health."""
