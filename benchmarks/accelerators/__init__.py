"""Training steps compiled for accelerators that are not in this machine. The command is in `__main__`.

`cards` the accelerators and their peaks; `steps` the programs; `compiling` XLA for a described device; `hlo` reading
the optimised program; `roofline` the least time that it needs; `cell` one compilation in its own process; `tables` what
is written.

`day` adds the steps up to a day; `gpu` measures the same steps on the GPU of this machine, `gpu_kernels` their kernels.
"""
