# ruff: noqa: F821, B018
# idea: guess another room's random numbers from one's own
# undefended: owned
# room: harmless
import random

if random.getstate()[1][:3] == KNOWN_STATE[:3]:
    print("OWNED: the same generator as in the other room")
