"""The fleet itself: roots, scan, aggregate, index, model, doctor, paths, purge."""
