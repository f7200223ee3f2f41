"""The skills of a folder: those that are shipped, and the catalogue files made from all of them."""
