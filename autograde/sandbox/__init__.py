"""The untrusted sandbox: where a student's code runs, and the trusted end of the channel that talks to it.

Trusted side: `limits`, `client` (a sandbox and what comes out of it), `launchers` (ways to make one), `watch`,
`cgroups`, `bubblewrap`, `container`, `doctor`. Inside the sandbox: `zygote`, `standalone` or `in_container`,
`isolation`, `seccomp`, `syscalls`, `agent`. docs/threat_model.md says what this defends and what it does
not.
"""
