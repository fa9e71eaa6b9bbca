/* The killed workflow as in spec/classics/killed_workflow_benchmark.yaml, for SPIN:
 * -DCOORDINATORS=c -DATTEMPTS=a -DCRASHES=k, and -DSUBMIT_ON_MISS for the variant that goes wrong.
 *
 * Each step is a d_step. What a coordinator forgets is set back to 0, and no variable keeps a value nobody can read:
 * states are the same as in the specification, one for one.
 */
#ifndef COORDINATORS
#define COORDINATORS 2
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif

/* The phase of the run; what is not named is passed through one by one. */
#define ADMITTED       2
#define DISPATCHED     3
#define ATTEMPT_FAILED 4
#define CANDIDATE      5
#define LAST           10

/* What the ledger says of the current attempt's submission. */
#define UNRECORDED    0
#define NOT_SUBMITTED 1
#define CONFIRMED     2
#define IN_DOUBT      3

/* A job at the provider, and what a coordinator saw of it. */
#define ABSENT    0
#define RUNNING   1
#define SUCCEEDED 2
#define FAILED    3

/* Where a coordinator is: the labels of its steps. */
#define REST                0
#define ADVANCE             1
#define RECORD_INTENT       2
#define LOOK_UP_BEFORE      3
#define SUBMIT              4
#define CONFIRM             5
#define LOOK_UP_UNCONFIRMED 6
#define MARK_AMBIGUOUS      7
#define OBSERVE             8
#define RECORD_OUTCOME      9
#define LOOK_UP_AMBIGUOUS   10
#define ABANDON             11
#define RETRY               12

#ifdef SUBMIT_ON_MISS
#define AFTER_MISS SUBMIT
#else
#define AFTER_MISS MARK_AMBIGUOUS
#endif

byte killed;
byte phase, submission, attempt = 1, sequence;
byte submissions[ATTEMPTS], job[ATTEMPTS];
byte at[COORDINATORS], head[COORDINATORS], number[COORDINATORS], seen[COORDINATORS];

#define I       _pid
#define MY_JOB  job[number[I] - 1]
#define FRESH   (sequence == head[I])

inline forget() { at[I] = REST; head[I] = 0; number[I] = 0; seen[I] = ABSENT }

inline look_up(if_absent) {
  seen[I] = MY_JOB;
  if
  :: seen[I] == ABSENT -> at[I] = if_absent
  :: else -> at[I] = CONFIRM
  fi
}

active [COORDINATORS] proctype Coordinator() {
  do
  :: d_step { at[I] == REST && phase != LAST && !(phase == ATTEMPT_FAILED && attempt == ATTEMPTS) ->
       head[I] = sequence;
       number[I] = attempt;
       if
       :: phase == ADMITTED -> at[I] = RECORD_INTENT
       :: phase == DISPATCHED && submission == NOT_SUBMITTED -> at[I] = LOOK_UP_UNCONFIRMED
       :: phase == DISPATCHED && submission == CONFIRMED -> at[I] = OBSERVE
       :: phase == DISPATCHED && submission == IN_DOUBT -> at[I] = LOOK_UP_AMBIGUOUS
       :: phase == ATTEMPT_FAILED -> at[I] = RETRY
       :: else -> at[I] = ADVANCE
       fi }

  :: d_step { at[I] == ADVANCE -> if :: FRESH -> sequence++; phase++ :: else fi; forget() }
  :: d_step { at[I] == CONFIRM -> if :: FRESH -> sequence++; submission = CONFIRMED :: else fi; forget() }
  :: d_step { at[I] == MARK_AMBIGUOUS -> if :: FRESH -> sequence++; submission = IN_DOUBT :: else fi; forget() }
  :: d_step { at[I] == ABANDON -> if :: FRESH -> sequence++; phase = ATTEMPT_FAILED :: else fi; forget() }
  :: d_step { at[I] == RETRY ->
       if :: FRESH -> sequence++; phase = ADMITTED; submission = UNRECORDED; attempt++ :: else fi;
       forget() }
  :: d_step { at[I] == RECORD_OUTCOME ->
       if
       :: FRESH && seen[I] == SUCCEEDED -> sequence++; phase = CANDIDATE
       :: FRESH && seen[I] == FAILED -> sequence++; phase = ATTEMPT_FAILED
       :: else
       fi;
       forget() }

  :: d_step { at[I] == RECORD_INTENT ->
       if
       :: FRESH -> sequence++; head[I] = sequence; phase = DISPATCHED; submission = NOT_SUBMITTED; at[I] = LOOK_UP_BEFORE
       :: else -> forget()
       fi }
  :: d_step { at[I] == LOOK_UP_BEFORE -> look_up(SUBMIT) }
  :: d_step { at[I] == LOOK_UP_UNCONFIRMED -> look_up(AFTER_MISS) }
  :: d_step { at[I] == LOOK_UP_AMBIGUOUS -> look_up(ABANDON) }
  :: d_step { at[I] == SUBMIT ->
       submissions[number[I] - 1]++;
       assert(submissions[number[I] - 1] <= 1);
       if :: MY_JOB == ABSENT -> MY_JOB = RUNNING :: else fi;
       at[I] = CONFIRM }
  :: d_step { at[I] == OBSERVE ->
       if
       :: MY_JOB >= SUCCEEDED -> seen[I] = MY_JOB; at[I] = RECORD_OUTCOME
       :: else -> forget()
       fi }

  :: d_step { at[I] != REST && killed < CRASHES -> killed++; forget() }
  od
}

#define A (_pid - COORDINATORS)

active [ATTEMPTS] proctype Provider() {
  do
  :: d_step { job[A] == RUNNING -> job[A] = SUCCEEDED }
  :: d_step { job[A] == RUNNING -> job[A] = FAILED }
  od
}
