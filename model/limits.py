"""Every limit on what a specification may ask for, in one place.

Specifications come from strangers' pull requests. A limit is there so that a hostile or mistaken file is refused in
milliseconds with a sentence that names the limit, instead of filling memory. Each is far above what any protocol worth
checking needs; none is a matter of taste. Messages name a limit by what it counts and by its value.
"""

# --- The file as text (checked by `model.yamltree`) ---

# Bytes. A protocol of 600 lines has some 30,000; the whole file is held in memory several times over.
FILE_SIZE_MAX = 1_000_000

# Mappings and lists inside one another. A specification needs about eight; readers of the tree may recurse.
NESTING_MAX = 40

# Mappings, lists, keys and values, where an alias counts as often as what it stands for: ten aliases of ten aliases of
# ten … make ten lines of YAML into ten thousand million nodes.
NODES_MAX = 100_000

# Characters of one text. A step of a hundred lines has about 4,000.
SCALAR_LENGTH_MAX = 50_000

# Errors of one file that are kept; the rest is counted. Nobody reads the 201st, and a file can contain 100,000.
DIAGNOSTICS_MAX = 200

# --- Types and declarations (checked where they are elaborated) ---

# The largest number, on either side of zero, that a specification may write. The product of two still fits 64 bits.
INTEGER_MAX = 1_000_000_000

# Elements of one range type. Ranges are enumerated in quantifiers, loops and `choose`.
RANGE_SIZE_MAX = 1_000_000

# Up to where `bound` lets an exploration follow a `nat`.
BOUND_MAX = 1_000_000

# Literals of one enumeration.
LITERALS_MAX = 1_000

# Elements over which one array, or quantifiers and loops inside one another, go: the sizes of all types multiplied.
ARRAY_SIZE_MAX = 10_000

# Values of the type of a set's elements; a variable `set of T` has as many values as T has subsets.
SET_ELEMENTS_MAX = 8

# Initial states that `init: any` makes, before `initially` is asked about each of them.
INITIAL_STATES_MAX = 10_000

# Instances of one process; each brings a label, its volatile memory and its fresh bits into every state.
INSTANCES_MAX = 64

# The N of `counter N`: a counter that distinguishes more than this is a range.
COUNTER_MAX = 1_000

# Variables, array elements, labels, fresh bits and budgets of one state. States are packed into a few machine words.
SLOTS_MAX = 2_000

# Spent of one counted fault: `at_most: 3`.
FAULT_BUDGET_MAX = 1_000

# Steps of one specification, all processes together.
STEPS_MAX = 1_000

# Statements of one step, nested ones included.
STATEMENTS_PER_STEP_MAX = 500

# `if` and `for` inside one another; every `elif` is one more. Readers of the tree recurse.
STATEMENT_NESTING_MAX = 40

# Paths through one step of one instance: every resolution of `choose`, `fault` and `if`. Each becomes an action of its
# own in the explorer, and their number is exponential in the branches that follow one another.
PATHS_PER_STEP_MAX = 10_000

# Rows of one table; an exclusive table compares every pair of them.
ROWS_PER_TABLE_MAX = 500

# Named declarations of one kind: properties, tables, definitions, types, parameters.
DECLARATIONS_MAX = 1_000

# Scenarios and mutants of one specification; each is an exploration.
SCENARIOS_MAX = 1_000

# Combinations of one sweep; each is an exploration, unless another one decides it.
COMBINATIONS_MAX = 4_096

# --- Expressions (checked where they are parsed and substituted) ---

# Characters of one expression, checked before it is handed to `ast`.
EXPRESSION_LENGTH_MAX = 10_000

# Nodes of one expression after definitions have been substituted: ten definitions that each use the last one twice
# already make a thousand.
EXPRESSION_NODES_MAX = 20_000

# Depth of one expression after substitution. Readers of the tree recurse, some with eight calls for each level, and
# Python's own stack ends near 1,000.
EXPRESSION_DEPTH_MAX = 80

# Declarations and nodes of expressions that reading one file may make, all its variants and mutants together: each of
# the other limits may be exhausted a thousand times. A large file with thirty mutants makes 3,000.
WORK_MAX = 50_000
