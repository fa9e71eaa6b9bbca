"""The transition relation as Z3 terms: a third reading of the language.

The oracle runs statements, the columns split a step into straight lines. Here nothing is split: a step is run once, on
terms, and where its ways part the values are merged by if-then-else. `choose` and `fault` become free constants.
"""
