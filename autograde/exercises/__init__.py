"""The exercises, one module per notebook, and everything that must not leave the instructor's side."""
