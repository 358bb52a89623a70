# ruff: noqa
# idea: a System V segment that stays when its maker is gone
# undefended: owned
# sandbox: harmless
# limits: cell_seconds=6.0
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
segment = libc.shmget(0x4175746F, 1 << 20, 0o1666)
if segment >= 0:
    print("OWNED", segment)
    libc.shmctl(segment, 0, None)
