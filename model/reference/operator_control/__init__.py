"""Durable work whose doubtful deliveries an operator may retry or reconcile: a small, honest implementation.

Read `records` (what is stored), `rules` (what workers do to it), `controls` and `arbitration` (what operators do to it
and how they are judged), `storage` (the transactions); then `worker`, `service`, `channel` and `world`, which run.
Nothing of the models is imported: what is written here comes from the documents alone.
"""
