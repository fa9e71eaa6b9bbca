"""The killed workflow: a run recovered from an append-only git ledger, and a provider that must not be asked twice.

Start with `coordinator.py`: one method a step, and between two steps a point at which it may be killed.
"""
