"""Adapters of the reference implementations, one a protocol; each has a class `Adapter`."""
