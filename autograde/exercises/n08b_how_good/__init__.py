"""Notebook 08b: how good is it?"""

KEPT_IN = ""
