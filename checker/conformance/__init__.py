"""Conformance: holding a running system against a model, and a model against a running system."""
