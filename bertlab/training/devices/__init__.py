"""The devices on which a run computes: machines, floating-point types, memory, speed."""
