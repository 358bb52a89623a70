"""Substitutes for a missing part of `mybert`: the same names, made of the library's parts or Keras's own.

One module per module of `mybert`; `__all__` lists the names. None of it is a solution: an exercise that asks for
attention forbids `bertlab.layers`, and everything here is nothing else.
"""
