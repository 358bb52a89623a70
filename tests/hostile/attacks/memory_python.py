# ruff: noqa
# idea: an ever longer list
# undefended: owned
# sandbox: limit memory or ended memory
# limits: cell_seconds=6.0
blocks = []
for _ in range(40):
    blocks.append(bytearray(b"x" * (16 << 20)))
print("OWNED", len(blocks) * 16, "MiB")
