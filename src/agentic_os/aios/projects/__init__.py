"""The folder's projects: catalog, selection, placement on this machine, attribution of rows."""
