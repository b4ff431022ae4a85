"""The font of formulas: of STIX Two Math, what the book's formulas need, so that they look alike on every machine."""

import base64
import html
import io
import re
from importlib.resources import files
from pathlib import Path
from unicodedata import decomposition

from inside_torch.edition import Edition
from inside_torch.run.cache import Cache

FORMULA = re.compile(r"<math.*?</math>", re.S)
NOT_SHOWN = re.compile(r"<annotation.*?</annotation>|<[^>]*>", re.S)
ROOT = re.compile(r"<(?:msqrt|mroot)\b")  # its sign is drawn, but written nowhere
# Mathematical italics: what a browser draws for a letter that is alone in its <mi>. Planck's constant is their h.
SLANTED = "\u210e", *map(chr, range(0x1D434, 0x1D468)), *map(chr, range(0x1D6E2, 0x1D71C))
ITALICS = {chr(int(found[1], 16)): one for one in SLANTED if (found := decomposition(one).split())}
NAMES = [0, 1, 2, 3, 4, 5, 6, 13, 14]  # who made the font, its names, and its licence, the SIL Open Font License


def characters(page: str) -> set[str]:
    """What a page's formulas show, upright and in italics."""
    shown = {one for formula in FORMULA.findall(page) for one in html.unescape(NOT_SHOWN.sub("", formula))}
    shown |= {"\N{SQUARE ROOT}" for formula in FORMULA.findall(page) if ROOT.search(formula)}
    return shown | {ITALICS[one] for one in shown & ITALICS.keys()}


def font(shown: str) -> bytes:
    """The font with the given characters and what its MATH table makes of them, as WOFF2. Source: ziamath's copy."""
    from fontTools import subset, ttLib  # 0.2 s that only a site with a new formula needs

    options = subset.Options(flavor="woff2", name_IDs=NAMES, hinting=False, layout_features=["ssty", "dtls", "flac"])
    source = (files("ziamath") / "fonts" / "STIXTwoMath-Regular.ttf").read_bytes()
    whole = ttLib.TTFont(io.BytesIO(source), recalcTimestamp=False)  # the same bytes on every day
    chooser = subset.Subsetter(options)
    chooser.populate(text=shown)
    chooser.subset(whole)
    made = io.BytesIO()
    subset.save_font(whole, made, options)
    return made.getvalue()


def write(site: Path, edition: Edition) -> None:
    """The font in a finished site, for the formulas of its pages."""
    shown = "".join(sorted(set().union(*(characters(path.read_text("utf-8")) for path in site.rglob("*.html")))))
    cache = Cache(edition, "fonts", "render/mathfont.py")
    made = cache.memo(lambda: base64.b64encode(font(shown)).decode(), shown)
    (site / "assets").mkdir(exist_ok=True)
    (site / "assets" / "math.woff2").write_bytes(base64.b64decode(made))
