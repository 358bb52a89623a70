# ruff: noqa
# idea: shared mappings, which the limit on private data does not count
# undefended: owned
# sandbox: ended memory or limit memory
# limits: cell_seconds=6.0
import mmap, time

blocks = []
for _ in range(20):
    block = mmap.mmap(-1, 32 << 20)
    for offset in range(0, len(block), 4096):
        block[offset] = 1
    blocks.append(block)
time.sleep(0.5)
print("OWNED", len(blocks) * 32, "MiB")
