"""What the commands about the AIOS folder do."""
