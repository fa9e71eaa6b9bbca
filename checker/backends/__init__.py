"""Translations of a transition system into something an engine can run."""
