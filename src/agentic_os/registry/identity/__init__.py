"""Which folders are one project: ids, clones, checkouts, folding."""
