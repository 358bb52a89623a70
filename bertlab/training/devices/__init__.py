"""Where a run computes: devices, machines, number formats, memory, speed."""
