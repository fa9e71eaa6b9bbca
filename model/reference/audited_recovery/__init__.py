"""Audited recovery of a run whose owner may be dead: lock files, a gate, a recovery ledger, and two sets of rules.

Written from the decision record alone. Everything that decides is real: files with bytes and inodes, `flock`, `fsync`,
processes that signal 0 finds or does not find. Linux is needed. The parts, from below:

- `files`: files that are there whole or not at all, and what a file's identity is;
- `party`: a process as the kernel sees it (host, PID, open descriptors), and the question whether another one lives;
- `locks`, `evidence`, `workspace`, `ledger`: what a run has on disk; `run` puts it together;
- `holding`: what a reclaim keeps to itself; `neighbours`: those whom it keeps out;
- `judgement`: when an unlock, a retirement or a reclaim is refused, and why;
- `owner`, `recovery`: acquisition and release of the resume lock, `run unlock` and `run reclaim`, as first decided;
- `revised`: the same after the revision, which retires dead locks by itself and writes one event to `provider_ledger`;
- `commands`: the command line of an operator;
- `defects`: deliberate mistakes, each switched on by name.

A process is a generator. It yields the name of the kill point at which it stands before it takes the step that lies
behind it, and the same name once more when it could not take it. What lies between two yields is not interrupted by a
test, and nothing here cleans up when a generator is dropped: a killed process cleans up nothing either.
"""
