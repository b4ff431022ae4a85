"""A browser and a server for a folder: for the tests, the screenshots and Lighthouse."""

import contextlib
import functools
import gzip
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-quic --no-first-run".split()


def chromium(own: str = "") -> str | None:
    """The machine's Chromium, else `own`, Playwright's, where it is there; None where there is neither."""
    names = ("chromium", "chromium-browser", "google-chrome", own)
    return next(filter(None, map(shutil.which, names)), None)


PACKED = (".css", ".html", ".js", ".json", ".svg", ".txt", ".xml")


@functools.lru_cache(1000)
def compressed(path: Path, changed: int) -> bytes:
    """A file as a host sends it; `changed`: when it last did."""
    return gzip.compress(path.read_bytes(), 6)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, text compressed as on any host of pages, and says nothing about it, nor about a browser that
    closed a page before it was all there."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in PACKED or not path.is_file():
            return super().do_GET()
        packed = compressed(path, path.stat().st_mtime_ns)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(packed)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(packed)

    def copyfile(self, *files) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().copyfile(*files)

    def log_message(self, *_) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path, handler: type[SimpleHTTPRequestHandler] = Quiet) -> Iterator[str]:
    """The address of a folder, served until the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
