"""For those who write plugins: new projects, building, packing, signing, checking, trying."""
