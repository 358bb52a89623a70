"""The untrusted room: where a student's code runs, and the trusted end of the hatch that talks to it.

Trusted side: `limits`, `client` (a room and what comes out of it), `sandboxes` (ways to make one), `watch`, `cgroups`,
`bubblewrap`, `container`, `doctor`. Inside the room: `zygote`, `alone` or `contained`, `isolation`, `seccomp`,
`kernel`, `agent`, `outputs`.
docs/threat_model.md says what this defends and what it does not.
"""
