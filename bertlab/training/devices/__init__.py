"""Where a run computes: devices, machines, floating-point types, memory, speed."""
