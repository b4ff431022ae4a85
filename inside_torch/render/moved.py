"""Old addresses of pages: each leads to the new one, in every browser and for every search engine."""

import os
from pathlib import Path

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{new}">
<meta http-equiv="refresh" content="0; url={new}">
<script>location.replace("{new}" + location.search + location.hash)</script>
</head>
<body><p>This page is now at <a href="{new}">{new}</a>.</p></body>
</html>
"""


def write(site: Path, moved: dict[str, str]) -> None:
    """A small page at each old address of `moved` whose new one is part of the site."""
    for old, new in moved.items():
        path = site / old
        if not (site / new).exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(new=os.path.relpath(site / new, path.parent)), encoding="utf-8", newline="\n")
