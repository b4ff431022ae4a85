"""What NCCL's watchdog says of a collective that outlasts its time-out, recorded on a GPU (see gpu.py)."""

import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from gpu import section

SAID = "Watchdog caught|failure detected|Stack trace|^#|inconsistency"

with section("watchdog"):
    command, start = [sys.executable, "hangs.py"], time.perf_counter()
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    took = time.perf_counter() - start
    print(f">>> python hangs.py\n{done.stdout}")
    report, _, _ = done.stderr.partition("terminate called")
    for line in dict.fromkeys(report.splitlines()):
        if re.search(SAID, line) and "terminated with exception" not in line and "frame #" not in line:
            line = re.sub(r"^\[rank0\]:\[E.*?\] ", "", line)
            line = re.sub(r"from /\S+/(?=torch/|hangs)", "from ", line)
            print(textwrap.fill(line, 76))
    print(f"\n{signal.Signals(-done.returncode).name}, about {10 * round(took / 10)} s after the start")
