"""Social cards: what other sites show of a link to a page, a picture made of its title."""

import base64
import io
import textwrap
from pathlib import Path

from inside_torch.render.about import Imprint
from inside_torch.run.cache import Cache

SIZE, MARGIN = (1200, 630), 96
PAPER, INK, SOFT, ACCENT = "#1c1b1a", "#eae7e2", "#aaa59d", "#ff9560"


def card(title: str, torch: str) -> bytes:
    """A PNG with a title, in as large a type as its longest word and four lines allow, and the book's name."""
    from PIL import Image, ImageDraw, ImageFont  # 0.1 s that only a site with an address needs

    image = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(image)
    for size in range(104, 40, -8):
        font = ImageFont.load_default(size)
        lines = textwrap.wrap(title, int((SIZE[0] - 2 * MARGIN) / font.getlength("n")), break_long_words=False)
        wide = max(map(font.getlength, lines)) > SIZE[0] - 2 * MARGIN
        if not wide and len(lines) * size < SIZE[1] - 2.5 * MARGIN - 60:
            break
    draw.multiline_text((MARGIN, MARGIN + 60), "\n".join(lines), INK, font, spacing=size // 4)
    draw.text((MARGIN, MARGIN - 20), "Inside PyTorch", ACCENT, ImageFont.load_default(44))
    below = f"torch {torch}. Every program's output printed by the build."
    draw.text((MARGIN, SIZE[1] - MARGIN), below, SOFT, ImageFont.load_default(32))
    made = io.BytesIO()
    image.save(made, "PNG", optimize=True)
    return made.getvalue()


def write(site: Path, imprint: Imprint) -> None:
    """A card for each page in a finished site that has an address: the others cannot be linked to."""
    cache = Cache(imprint.edition, "cards", "render/cards.py")
    for page in imprint.book.pages if imprint.site else ():
        inputs = page.title, imprint.edition.release
        made = cache.memo(lambda inputs=inputs: base64.b64encode(card(*inputs)).decode(), *inputs)
        path = site / "cards" / f"{page.stem}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(made))
