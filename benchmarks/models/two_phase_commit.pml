/* Two-phase commit as in spec/classics/two_phase_commit.yaml, for SPIN: -DMANAGERS=n, 1 to 9.
 *
 * As lean as Promela allows, so that the comparison is fair to SPIN: what was sent and heard are bit sets, each step is
 * a d_step, scratch variables are hidden (no part of the state), and consistency is only asked where it can break.
 */
#ifndef MANAGERS
#define MANAGERS 3
#endif

#define WORKING   0
#define PREPARED  1
#define COMMITTED 2
#define ABORTED   3

#define WAITING      0
#define CHOSE_COMMIT 1
#define CHOSE_ABORT  2

/* Bits of `sent`: one for each manager's vote, then the two decisions. Bits of `heard`: the votes. */
#define VOTE        (1 << (_pid - 1))
#define EVERY_VOTE  ((1 << MANAGERS) - 1)
#define COMMIT      (1 << MANAGERS)
#define ABORT       (2 << MANAGERS)

byte outcome;
short heard, sent;
byte state[MANAGERS];
hidden byte other;

active proctype TransactionManager() {
  do
  :: d_step { outcome == WAITING && heard == EVERY_VOTE -> outcome = CHOSE_COMMIT; sent = sent | COMMIT }
  :: d_step { outcome == WAITING -> outcome = CHOSE_ABORT; sent = sent | ABORT }
  od
}

/* Nobody may be in this state now. */
inline none_is(opposite) {
  do
  :: other < MANAGERS -> assert(state[other] != opposite); other++
  :: else -> break
  od;
  other = 0
}

#define MINE state[_pid - 1]

active [MANAGERS] proctype ResourceManager() {
  do
  :: d_step { MINE == WORKING -> MINE = PREPARED; sent = sent | VOTE }
  :: d_step { MINE == WORKING -> MINE = ABORTED }
  :: d_step { outcome == WAITING && (sent & VOTE) -> heard = heard | VOTE }   /* the transaction manager's step */
  :: d_step { (sent & COMMIT) -> MINE = COMMITTED; none_is(ABORTED) }
  :: d_step { (sent & ABORT) -> MINE = ABORTED; none_is(COMMITTED) }
  od
}
