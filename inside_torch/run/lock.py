"""One build at a time writes a site."""

import functools
import logging
import os
import sys

from inside_torch.edition import Edition
from inside_torch.run.cache import digest


@functools.cache
def lock_site(edition: Edition, folder: str) -> None:
    """Wait until no other build writes into `folder`; the lock goes with the process."""
    if sys.platform == "win32":
        return
    import fcntl

    edition.cache.mkdir(parents=True, exist_ok=True)
    name = digest(os.path.realpath(folder))[:16]
    descriptor = os.open(edition.cache / f"site-{name}.lock", os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logging.getLogger("mkdocs.inside_torch").info("Waiting for another build of the same site")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
