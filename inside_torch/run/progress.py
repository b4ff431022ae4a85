"""How far the blocks have come."""

import itertools
import logging
import sys
from concurrent.futures import Future

from tqdm import tqdm

log = logging.getLogger("mkdocs.inside_torch")


def show_progress(begun: list[Future], total: int) -> None:
    """Show how the blocks come in: a bar on a terminal, a line now and then elsewhere."""
    log.info(f"{len(begun)} of {total} blocks to run")
    terminal = sys.stderr.isatty()
    bar = tqdm(total=len(begun), desc="blocks", leave=False, disable=not begun or not terminal)
    numbers = itertools.count(1)

    def come_in(_: Future) -> None:
        number = next(numbers)
        bar.update()
        if number == len(begun):
            bar.close()
        if not terminal and (number == len(begun) or number % 25 == 0):
            log.info(f"{number} of {len(begun)} blocks have run")

    for future in begun:
        future.add_done_callback(come_in)
