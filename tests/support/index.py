"""A package index on loopback, over a folder of wheels, that can be told to misbehave."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import threading
import zipfile
from dataclasses import dataclass
from email.parser import BytesParser
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, unquote, urlsplit

from packaging.utils import canonicalize_name, parse_wheel_filename

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

__all__ = ["Fault", "Index", "Request"]

JSON = "application/vnd.pypi.simple.v1+json"
HTML = "text/html; charset=utf-8"


class Fault(StrEnum):
    """What can be wrong with a project's page or a file."""

    NOT_FOUND = "not-found"  # 404; for a file: it is listed and has vanished
    SERVER_ERROR = "server-error"  # 500
    STALL = "stall"  # no answer for `stall_seconds`, then 503
    CUT = "cut"  # the connection ends without an answer
    GARBAGE = "garbage"  # what comes is neither a page nor a file
    TRUNCATED = "truncated"  # the connection ends after half of the page or file
    WRONG_HASH = "wrong-hash"  # the page lists another digest than the file has


@dataclass(frozen=True)
class Request:
    """A request that was answered, or not."""

    method: str
    path: str
    accept: str


class Index:
    """Serves the wheels of ``folder`` (PEP 503 and 691, with PEP 658 metadata) until it is closed; a context manager.

    The folder is read at each request, so a wheel built into it later is listed at once. ``faults`` maps a project's
    name (its page), a wheel's file name or that with ``.metadata`` to what is wrong with it, and ``spared`` to how many
    requests are answered before it is; ``changes`` maps a project's name to what is done when its page was sent, once.
    ``yanked`` maps a wheel's file name to the reason, and ``uploaded`` to the time that
    the JSON gives it (PEP 700). Where there is a ``login``, nothing is served without it.
    """

    def __init__(self, folder: Path, *, json: bool = True, stall_seconds: float = 10.0) -> None:
        self.folder = folder
        self.json = json
        self.stall_seconds = stall_seconds
        self.faults: dict[str, Fault] = {}
        self.spared: dict[str, int] = {}
        self.changes: dict[str, Callable[[], None]] = {}
        self.yanked: dict[str, str] = {}
        self.uploaded: dict[str, str] = {}
        self.login: str | None = None
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """What an installer is given as its index URL."""
        return f"http://127.0.0.1:{self._server.server_port}/simple/"

    @property
    def url_with_login(self) -> str:
        """The same with the login in it."""
        return self.url.replace("//", f"//{self.login}@")

    @property
    def downloads(self) -> list[str]:
        """The file names of the wheels that were asked for, in order."""
        paths = [unquote(request.path) for request in self.requests if request.method == "GET"]
        return [path.rpartition("/")[2] for path in paths if path.endswith(".whl")]

    def wheels(self, project: str) -> list[Path]:
        """The wheels of one project."""
        paths = sorted(self.folder.glob("*.whl"))
        return [path for path in paths if parse_wheel_filename(path.name)[0] == canonicalize_name(project)]

    def projects(self) -> list[str]:
        """The names of all projects."""
        return sorted({parse_wheel_filename(path.name)[0] for path in self.folder.glob("*.whl")})

    def close(self) -> None:
        """Stop serving; requests that are stalled are let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a client that keeps its connection open does not keep the tests from ending

    def __init__(self, index: Index) -> None:
        self.index = index
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that was ended in the middle is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10.0
    whole = True

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Keep quiet: ``requests`` is the log."""

    def _answer(self) -> None:
        index = self.server.index
        path = urlsplit(self.path).path
        self.whole = True
        index.requests.append(Request(self.command, path, self.headers.get("Accept", "")))
        wanted = f"Basic {base64.b64encode((index.login or '').encode()).decode()}"
        if index.login and self.headers.get("Authorization") != wanted:
            self.send_error(401)
            return
        match [unquote(part) for part in path.strip("/").split("/")]:
            case ["simple"]:
                self._send_projects()
            case ["simple", project]:
                self._send_project(project)
            case ["files", name]:
                self._send_file(name)
            case _:
                self.send_error(404)

    def _fault(self, *subjects: str) -> Fault | None:
        """What is wrong with the first of ``subjects`` with which anything is."""
        index = self.server.index
        for subject in subjects:
            if subject in index.faults:
                index.spared[subject] = index.spared.get(subject, 0) - 1
                return index.faults[subject] if index.spared[subject] < 0 else None
        return None

    def _failed(self, fault: Fault | None) -> bool:
        """Whether a fault was the answer."""
        index = self.server.index
        match fault:
            case Fault.NOT_FOUND:
                self.send_error(404)
            case Fault.SERVER_ERROR:
                self.send_error(500)
            case Fault.STALL:
                index.closing.wait(index.stall_seconds)
                self.send_error(503)
            case Fault.CUT:
                self.close_connection = True
            case Fault.GARBAGE:
                self._send(b"<h1>Welcome to the network of this hotel</h1>" * 100, HTML)
            case _:
                return False
        return True

    def _send_projects(self) -> None:
        names = self.server.index.projects()
        if self._wants_json():
            self._send_json({"projects": [{"name": name} for name in names]})
        else:
            self._send_html(f'<a href="/simple/{name}/">{name}</a>' for name in names)

    def _send_project(self, project: str) -> None:
        index = self.server.index
        fault = self._fault(canonicalize_name(project))
        if self._failed(fault):
            return
        self.whole = fault is not Fault.TRUNCATED
        files = [_Listed.of(path, index) for path in index.wheels(project)]
        if not files:
            self.send_error(404)
        elif self._wants_json():
            versions = sorted({str(parse_wheel_filename(path.name)[1]) for path in index.wheels(project)})
            listed = [file.as_json() for file in files]
            self._send_json({"name": canonicalize_name(project), "versions": versions, "files": listed})
        else:
            self._send_html(file.as_html() for file in files)
        if self.command == "GET":
            index.changes.pop(canonicalize_name(project), lambda: None)()

    def _send_file(self, name: str) -> None:
        index = self.server.index
        wheel = index.folder / name.removesuffix(".metadata")
        fault = self._fault(name, wheel.name)
        if self._failed(fault):
            return
        self.whole = fault is not Fault.TRUNCATED
        if not wheel.is_file():
            self.send_error(404)
        elif name.endswith(".metadata"):
            self._send(_metadata(wheel), "text/plain", cached=True)
        else:
            self._send(wheel.read_bytes(), "application/zip", cached=True)

    def _wants_json(self) -> bool:
        return self.server.index.json and JSON in self.headers.get("Accept", "")

    def _send_json(self, content: dict[str, object]) -> None:
        self._send(json.dumps({"meta": {"api-version": "1.1"}, **content}).encode(), JSON)

    def _send_html(self, lines: Iterable[str]) -> None:
        page = ["<!DOCTYPE html>", '<meta name="pypi:repository-version" content="1.0">', *lines]
        self._send("<br>\n".join(page).encode(), HTML)

    def _send(self, content: bytes, kind: str, *, cached: bool = False) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=86400, immutable" if cached else "no-store")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content if self.whole else content[: len(content) // 2])


@dataclass(frozen=True)
class _Listed:
    """A file on a project's page."""

    name: str
    size: int
    sha256: str
    metadata_sha256: str
    requires_python: str
    yanked: str | None
    uploaded: str | None

    @classmethod
    def of(cls, wheel: Path, index: Index) -> Self:
        content, metadata = wheel.read_bytes(), _metadata(wheel)
        digest = hashlib.sha256(content).hexdigest()
        return cls(
            name=wheel.name,
            size=len(content),
            sha256=digest[::-1] if index.faults.get(wheel.name) is Fault.WRONG_HASH else digest,
            metadata_sha256=hashlib.sha256(metadata).hexdigest(),
            requires_python=BytesParser().parsebytes(metadata)["Requires-Python"],
            yanked=index.yanked.get(wheel.name),
            uploaded=index.uploaded.get(wheel.name),
        )

    @property
    def url(self) -> str:
        return f"/files/{quote(self.name)}"

    def as_json(self) -> dict[str, object]:
        """As PEP 691 has it."""
        return {
            "filename": self.name,
            "url": self.url,
            "hashes": {"sha256": self.sha256},
            "size": self.size,
            "requires-python": self.requires_python,
            "core-metadata": {"sha256": self.metadata_sha256},
            "yanked": self.yanked or self.yanked is not None,
            **({} if self.uploaded is None else {"upload-time": self.uploaded}),
        }

    def as_html(self) -> str:
        """As PEP 503 has it."""
        attributes = {
            "href": f"{self.url}#sha256={self.sha256}",
            "data-requires-python": self.requires_python,
            "data-core-metadata": f"sha256={self.metadata_sha256}",
            **({} if self.yanked is None else {"data-yanked": self.yanked}),
        }
        written = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<a {written}>{self.name}</a>"


def _metadata(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return archive.read(name)
