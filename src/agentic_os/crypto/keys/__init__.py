"""Key pairs, private key files, and the handover from one key to the next."""
