"""The command ``isinglass``, and ``python -m isinglass``."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig

from . import _native


def main() -> int:
    """Runs the command line."""
    # Python's own handler would wait for the interpreter, which is not running meanwhile.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Jobs on a cluster start the installed command, not the interpreter that runs this.
    script = os.path.join(sysconfig.get_path("scripts"), "isinglass")
    os.environ.setdefault("ISINGLASS_PROGRAM", script if os.path.exists(script) else os.path.abspath(sys.argv[0]))
    return _native.main(["isinglass", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
