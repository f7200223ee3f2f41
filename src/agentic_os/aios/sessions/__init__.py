"""Captured conversations: transcripts of agents, the document of a session, the session store."""
