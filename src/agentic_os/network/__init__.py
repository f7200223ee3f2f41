"""Rules about the network without I/O: whose an address is, how often a peer may ask."""
