"""Automatic mutants: a protocol changed in one place, and whether the claims of its file notice."""
