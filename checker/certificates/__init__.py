"""Proofs that others can check again: a set of states as an inductive invariant, and what has to be shown of it."""
