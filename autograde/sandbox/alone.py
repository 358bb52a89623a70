"""One room without a zygote: slower to start by the imports, used where a fork cannot make its own namespaces.

    python -m autograde.sandbox.alone HATCH_FD CONTROL_FD '{limits…, "user": … or null}'

Bubblewrap has made the namespaces and mounts already (or, with --trust-submissions, nobody has).
"""

import json
import signal
import sys

from autograde.sandbox import isolation, kernel
from autograde.sandbox.zygote import become_ordinary


def main() -> None:
    hatch, control, limits = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    if limits["walls"]:
        become_ordinary(limits["user"])
    kernel.die_with_parent(signal.SIGKILL)  # after a change of user, which clears it

    from autograde.sandbox import agent  # imports IPython: before the room counts as started, so no deadline runs yet

    shell = agent.make_shell()
    isolation.run_init(hatch, control, limits, lambda descriptor: agent.run(descriptor, shell, limits))


if __name__ == "__main__":
    main()
