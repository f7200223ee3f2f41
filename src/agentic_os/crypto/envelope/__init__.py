"""AIII-SIGNATURE-V1 envelopes, public-key envelopes, and the ROOT profile's two signatures."""
