"""The columnar back end: a transition system as NumPy source over packed states.

`paths` runs each step symbolically and splits it into guarded paths, `terms` are the expressions of these paths,
`packing` lays the state out in 64-bit words, and `source` writes the code.
"""
