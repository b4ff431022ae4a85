"""A caching allocator whose segments grow: one range of addresses for a pool, and pages where they are needed."""

from caching_allocator import FREE, INFINITE, MB, PAGES, USED, Allocator, end, up


class Expandable(Allocator):
    """With the setting expandable_segments:True."""

    expandable = True

    # --8<-- [start:expandable]
    def room(self, segment, block):
        """From the block's address to the next block. The last block can grow without end."""
        after = [b["address"] for b in segment["blocks"] if b["address"] > block["address"]]
        return min(after, default=INFINITE) - block["address"]

    def missing(self, pool, size, total):
        """At the lowest address with room for the block: the pages that the segment does not have there."""
        new, _, _ = super().missing(pool, size, total)
        segment = next((s for s in self.segments if pool.items() <= s.items()), new)
        blocks, page = segment["blocks"], PAGES[segment["segment_type"]]
        ends, starts = [segment["address"], *map(end, blocks)], [*(b["address"] for b in blocks), INFINITE]
        gaps = [gap for gap in zip(ends, starts, strict=True) if gap[0] < gap[1]]
        for at, _ in gaps:
            first = next((b["address"] for b in blocks if b["state"] == FREE and end(b) == at), at)
            last = next((b["address"] for b in blocks if b["state"] == USED and b["address"] >= at), INFINITE)
            if last - first >= size:
                pages = [(a, min(up(first + size - a, page), b - a)) for a, b in gaps if at <= a < first + size]
                return segment, first, pages

    # --8<-- [end:expandable]
    def empty_cache(self):
        """Gives back each page that is wholly free."""
        for segment in self.segments:
            base, page = segment["address"], PAGES[segment["segment_type"]]
            for block in [b for b in segment["blocks"] if b["state"] == FREE]:
                first, last = base + up(block["address"] - base, page), base + (end(block) - base) // page * page
                if first < last:
                    at = segment["blocks"].index(block)
                    rest = dict(block, size=first - block["address"]), dict(block, address=last, size=end(block) - last)
                    segment["blocks"][at : at + 1] = [b for b in rest if b["size"]]
                    self.note("segment_unmap", segment, first, last - first)
        self.segments = [s for s in self.segments if s["blocks"]]


if __name__ == "__main__":
    for kind in (Allocator, Expandable):
        model = kind(80 * MB)
        large = [model.malloc(22 * MB) for _ in range(3)]
        for address in large:
            model.free(address)
        for _ in range(3):
            model.malloc(12 * MB)
        try:
            model.malloc(20 * MB)
            assert kind is Expandable, "three segments of 22 MiB have no room for 20"
            print(kind.__name__, "serves 20 MiB, with", model.reserved // MB, "reserved")
        except RuntimeError as error:
            print(kind.__name__, "says:", str(error).split(". GPU")[0])
