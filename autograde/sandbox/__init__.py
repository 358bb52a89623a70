"""The untrusted sandbox, and the trusted end of the channel that talks to it (docs/threat_model.md).

Inside the sandbox: `zygote` or `in_container`, `isolation`, `seccomp`, `syscalls`, `agent`, `forbidding`; all else is
the trusted side's.
"""
