"""What one caller may see: projects, hidden kinds, the AIOS folder."""
