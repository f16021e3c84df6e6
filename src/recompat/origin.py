"""Where this recompat was installed from, as a requirement by which another machine can have the same."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any
from urllib.parse import urlsplit

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recompat import __version__
from recompat.errors import ConfigurationError

__all__ = ["EXTRA", "of_this_machine", "read_requirement", "requirement"]

EXTRA = "run"


def requirement(origin: dict[str, Any] | None = None) -> str:
    """The requirement: a commit or an archive where it was installed from such an address, else the version.

    Args:
        origin: what the installer noted (PEP 610); by default, of the recompat that runs.
    """
    noted = _origin() if origin is None else origin
    if of_this_machine(noted):
        return f"recompat[{EXTRA}]=={__version__}"
    url = _without_login(noted["url"])
    if "vcs_info" in noted:
        url = f"{noted['vcs_info']['vcs']}+{url}@{noted['vcs_info']['commit_id']}"
    folder = noted.get("subdirectory")
    return f"recompat[{EXTRA}] @ {url}" + (f"#subdirectory={folder}" if folder else "")


def of_this_machine(origin: dict[str, Any] | None = None) -> bool:
    """Whether there is no address that another machine could take it from, but an index."""
    noted = _origin() if origin is None else origin
    return urlsplit(noted.get("url", "")).scheme not in {"http", "https", "ssh"} or "dir_info" in noted


def read_requirement(text: str) -> str:
    """Read a requirement that a user names, and add the extra to it.

    Raises:
        ConfigurationError: it is none, of something else, or of no use on another machine.
    """
    try:
        read = Requirement(text)
    except (ValueError, RecursionError):
        raise ConfigurationError(
            f"--from {text!r} is no requirement; write recompat==0.1.0, or recompat @ git+https://example.org/recompat."
        ) from None
    address = urlsplit(read.url or "")
    if canonicalize_name(read.name) != "recompat":
        raise ConfigurationError(f"--from names {read.name}; name a recompat.")
    if read.marker is not None:
        raise ConfigurationError(f"--from has the marker {read.marker}; leave it out.")
    if read.url and (address.scheme.rpartition("+")[2] == "file" or not address.netloc):
        raise ConfigurationError(f"--from names {read.url}, which no other machine has; name an address.")
    if address.password or _without_login(read.url or "") != (read.url or ""):
        raise ConfigurationError("--from has a login in its address, and what is written is for others to read.")
    read.extras.add(EXTRA)
    return str(read)


def _origin() -> dict[str, Any]:
    try:
        text = importlib.metadata.distribution("recompat").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:  # imported from a checkout that is not installed
        text = None
    noted: dict[str, Any] = json.loads(text or "{}")
    return noted


def _without_login(url: str) -> str:
    """An address without what may be a secret: the name of an SSH user is none."""
    parts = urlsplit(url)
    user, mark, host = parts.netloc.rpartition("@")
    if mark and not parts.scheme.endswith("ssh"):
        return parts._replace(netloc=host).geturl()
    return parts._replace(netloc=f"{user.partition(':')[0]}{mark}{host}").geturl()
