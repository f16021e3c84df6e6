"""What is being tested: the interpreter, the torch that was really imported, and what is installed beside it."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
import sysconfig
from importlib import metadata
from typing import Any

__all__ = ["cpu_capability", "flavour", "interpreter", "packages", "torch_build"]


def interpreter() -> dict[str, Any]:
    """Facts that need no torch, so that they are known even where importing it kills the process."""
    return {
        "python": platform.python_version(),
        "tag": _tag(),
        "implementation": sys.implementation.name,
        "platform": re.sub(r"[-.]", "_", sysconfig.get_platform()),
        "libc": " ".join(platform.libc_ver()).strip(),
    }


def torch_build(torch: Any) -> dict[str, Any]:
    """Facts that prove which torch was tested."""
    return {
        "imported": str(torch.__version__),
        "flavour": flavour(torch.version),
        "distribution_sha256": _distribution_sha256(),
        "cpu_capability": cpu_capability(torch),
        "threads": torch.get_num_threads(),
        "packages": packages(),
    }


def flavour(version: Any) -> str:
    """Name the build as PyTorch's indexes do, from ``torch.version``: ``cpu``, ``cu130``, ``rocm6.4`` or ``xpu``."""
    cuda, hip, xpu = (getattr(version, name, None) for name in ("cuda", "hip", "xpu"))
    if cuda:
        return f"cu{cuda.replace('.', '')}"
    if hip:
        return f"rocm{'.'.join(hip.split('.')[:2])}"
    return "xpu" if xpu else "cpu"


def cpu_capability(torch: Any) -> str:
    """Say which kernels torch picks on this processor; before 2.1 only its build description tells."""
    ask = getattr(getattr(torch.backends, "cpu", None), "get_cpu_capability", None)
    if ask:
        return str(ask())
    told = re.search(r"CPU capability usage: (\S+)", torch.__config__.show())
    return told.group(1) if told else "unknown"


def _tag() -> str:
    short = {"cpython": "cp", "pypy": "pp"}.get(sys.implementation.name, sys.implementation.name)
    threading = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return f"{short}{sys.version_info[0]}{sys.version_info[1]}{threading}"


def _distribution_sha256() -> str:
    """Digest the installed distribution's own ``RECORD``, which lists a digest for every file of the wheel."""
    try:
        files = metadata.distribution("torch").files or ()
        record = next(file for file in files if file.match("*.dist-info/RECORD"))
        with open(record.locate(), "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (metadata.PackageNotFoundError, StopIteration, OSError):
        return ""


def packages() -> dict[str, str]:
    """Name and version of everything installed; of two under one name, the one that is found first."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        described = distribution.metadata
        if "Name" in described:  # an uninstall that was cut short leaves folders without
            found.setdefault(described["Name"], distribution.version)
    return dict(sorted(found.items()))
