"""One sandbox without a zygote: slower to start by the imports, used where a fork cannot make its own namespaces.

    python -m autograde.sandbox.standalone CHANNEL_FD CONTROL_FD '{limits…, "user": … or null}'

Bubblewrap has made the namespaces and mounts already (or, with --trust-submissions, nobody has).
"""

import json
import signal
import sys

from autograde.sandbox import isolation, syscalls
from autograde.sandbox.zygote import drop_root


def main() -> None:
    channel, control, limits = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    if limits["isolated"]:
        drop_root(limits["user"])
    syscalls.die_with_parent(signal.SIGKILL)  # after a change of user, which clears it

    from autograde.sandbox import agent  # imports IPython before the sandbox counts as started: no deadline runs yet

    shell = agent.make_shell()
    isolation.run_init(channel, control, limits, lambda descriptor: agent.run(descriptor, shell, limits))


if __name__ == "__main__":
    main()
