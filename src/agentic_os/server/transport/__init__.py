"""How messages travel: stdio, HTTP, and the wire form that both share."""
