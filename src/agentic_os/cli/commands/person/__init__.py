"""Commands over the person's AIOS folder."""
