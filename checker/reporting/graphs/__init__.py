"""Projected transition graphs as text for other tools, and as pictures."""
