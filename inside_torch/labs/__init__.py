"""Labs: figures that answer when touched. Each module here records, from a run of torch, what one lab replays."""

import json
from xml.etree import ElementTree

from inside_torch.render.figures import SVG

LIMIT = 60_000  # bytes of a recording


def lab(name: str, invitation: str, figure: str, recording: object = None, files: tuple[str, ...] = ()) -> str:
    """The figure, an SVG as the functions of `inside_torch.figures` return it, as what stands in the place of the lab
    `name` (docs/labs/NAME.js, and `files` beside it) until somebody presses the button that says `invitation`;
    `recording`, plain JSON, is what the lab replays. Raises ValueError when that is too much to load at a touch."""
    kept = {"name": name, "invitation": invitation, "recording": recording, "files": files}
    if (size := len(json.dumps(recording, separators=(",", ":")))) > LIMIT:
        raise ValueError(f"the recording of the lab {name} has {size} bytes, of {LIMIT}")
    ElementTree.register_namespace("", SVG[1:-1])
    svg = ElementTree.fromstring(figure)
    metadata = svg.find(SVG + "metadata")
    metadata.text = json.dumps(json.loads(metadata.text) | {"lab": kept}, separators=(",", ":"))
    return ElementTree.tostring(svg, encoding="unicode")
