"""Real, installable wheels, made in milliseconds from the sources under ``standin/`` or from a few lines."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.tags import sys_tags
from packaging.utils import canonicalize_name
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["ABSENT_PACKAGE", "OTHER_VERSION", "STANDIN", "Behaviour", "build_package", "build_torch", "running_tags"]

STANDIN = Path(__file__).parent / "standin"
ABSENT_PACKAGE = "recompat-no-such-package"  # no index has it: a wheel that requires it cannot be installed
OTHER_VERSION = "8.8.8"  # what a wheel of another version imports as


class Behaviour(StrEnum):
    """What a build of the stand-in torch does.

    The first nine are also open to a single checkpointed function (``build_torch(checkpoints=...)``).
    """

    NORMAL = "normal"
    RAISES = "raises"  # CheckpointError in backward, in torch's wording
    DIFFERS = "differs"  # gradients are half as large again, silently
    ABORTS = "aborts"  # checkpoint() calls os.abort()
    HANGS = "hangs"  # checkpoint() sleeps for five minutes
    NEEDS_SETUPTOOLS = "needs-setuptools"  # checkpoint() imports pkg_resources and does not say so, as 2.1 does
    PROCESS_DEPENDENT = "process-dependent"  # checkpoint() raises AttributeError before torch._dynamo was imported
    RECOMPUTES_LESS = "recomputes-less"  # CheckpointError: another number of tensors
    DOES_NOT_REPEAT = "does-not-repeat"  # CheckpointError, but not where a verification runs it

    LACKS_CONTEXT_FN = "lacks-context-fn"  # checkpoint() as 2.0 had it
    IMPORT_ABORTS = "import-aborts"  # `import torch` calls os.abort()
    IMPORT_HANGS = "import-hangs"  # `import torch` sleeps for five minutes
    IMPORT_RAISES = "import-raises"  # `import torch` raises ImportError
    IMPORTS_AS_OTHER = "imports-as-other"  # torch.__version__ is OTHER_VERSION
    REQUIRES_ABSENT = "requires-absent"  # depends on ABSENT_PACKAGE


def running_tags() -> str:
    """The most particular wheel tags of the running interpreter, such as ``cp311-cp311-manylinux_2_36_x86_64``."""
    return str(next(iter(sys_tags())))


def build_torch(
    folder: Path,
    version: str = "9.0.0",
    *,
    tags: str = "py3-none-any",
    behaviour: Behaviour = Behaviour.NORMAL,
    checkpoints: Mapping[str, Behaviour] | None = None,
    renamed: Mapping[str, str] | None = None,
    absent: Iterable[str] = (),
    imports_as: str | None = None,
    requires: Iterable[str] = (),
    requires_python: str = ">=3.10",
) -> Path:
    """Build a wheel of the stand-in torch in ``folder``; return its path.

    Args:
        folder: where the wheel goes; made if it does not exist.
        version: the version in the metadata, local part included, as in ``9.0.0+cpu``.
        tags: what the wheel says it is compatible with.
        behaviour: what it does wrong.
        checkpoints: behaviours for the checkpointed functions of those names, ahead of ``behaviour``.
        renamed: operators that have another name than in other builds.
        absent: names that ``torch.utils.checkpoint`` does not have.
        imports_as: ``torch.__version__`` where it is not ``version``: on the default index, 9.0.0 is ``9.0.0+cu130``.
        requires: what it depends on.
        requires_python: the interpreters it says it works with.
    """
    if behaviour is Behaviour.IMPORTS_AS_OTHER:
        imports_as = OTHER_VERSION
    if behaviour is Behaviour.REQUIRES_ABSENT:
        requires = (*requires, ABSENT_PACKAGE)
    files = {
        path.relative_to(STANDIN).as_posix(): path.read_text("utf-8")
        for path in sorted((STANDIN / "torch").rglob("*.py"))
    }
    more = {"RENAMED": dict(renamed or {}), "ABSENT": list(absent)}
    files["torch/_build.py"] = _build_module(imports_as or version, behaviour, checkpoints or {}, more)
    # As torch has one: an installer writes a script for it, whose first line tells where the environment stands.
    files[f"torch-{Version(version)}.dist-info/entry_points.txt"] = "[console_scripts]\ntorchrun = torch:manual_seed\n"
    return _write_wheel(folder, "torch", version, files, tags, requires, requires_python)


def build_package(
    folder: Path,
    name: str,
    version: str,
    *,
    modules: Mapping[str, str] | None = None,
    tags: str = "py3-none-any",
    requires: Iterable[str] = (),
    requires_python: str = ">=3.8",
) -> Path:
    """Build a wheel of a trivial package in ``folder``; return its path.

    ``modules`` maps module names to their source. Without it the package has the one module of its name, which knows
    its version; setuptools has ``pkg_resources`` too.
    """
    own = canonicalize_name(name).replace("-", "_")
    if modules is None:
        modules = dict.fromkeys((own, *_COMPANIONS.get(own, ())), f'__version__ = "{version}"\n')
    files = {f"{module.replace('.', '/')}.py": source for module, source in modules.items()}
    return _write_wheel(folder, name, version, files, tags, requires, requires_python)


_COMPANIONS = {"setuptools": ("pkg_resources",)}


def _build_module(
    version: str, behaviour: Behaviour, checkpoints: Mapping[str, Behaviour], more: Mapping[str, object]
) -> str:
    local = Version(version).local or ""
    cuda = re.fullmatch(r"cu(\d+)(\d)", local)
    hip = re.fullmatch(r"rocm([\d.]+)", local)
    values = {
        "VERSION": version,
        "CUDA": f"{cuda[1]}.{cuda[2]}" if cuda else None,
        "HIP": hip[1] if hip else None,
        "XPU": "20250301" if local == "xpu" else None,
        "BEHAVIOUR": str(behaviour),
        "CHECKPOINTS": {function: str(its) for function, its in checkpoints.items()},
        **more,
    }
    return "".join(f"{name} = {value!r}\n" for name, value in values.items())


def _write_wheel(
    folder: Path,
    name: str,
    version: str,
    files: Mapping[str, str],
    tags: str,
    requires: Iterable[str],
    requires_python: str,
) -> Path:
    stem = f"{canonicalize_name(name).replace('-', '_')}-{Version(version)}"
    pure = tags.endswith("-none-any")
    metadata = [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        f"Requires-Python: {requires_python}",
        *(f"Requires-Dist: {requirement}" for requirement in requires),
    ]
    wheel = ["Wheel-Version: 1.0", "Generator: recompat tests", f"Root-Is-Purelib: {str(pure).lower()}"]
    interpreters, abis, platforms = (part.split(".") for part in tags.split("-"))
    wheel += [f"Tag: {i}-{a}-{p}" for i in interpreters for a in abis for p in platforms]
    contents = {path: source.encode() for path, source in files.items()}
    contents[f"{stem}.dist-info/METADATA"] = "\n".join([*metadata, ""]).encode()
    contents[f"{stem}.dist-info/WHEEL"] = "\n".join([*wheel, ""]).encode()
    record = f"{stem}.dist-info/RECORD"
    contents[record] = "".join(
        [*(f"{path},{_digest(content)},{len(content)}\n" for path, content in contents.items()), f"{record},,\n"]
    ).encode()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{stem}-{tags}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in contents.items():
            archive.writestr(zipfile.ZipInfo(path), content, zipfile.ZIP_DEFLATED)
    return target


def _digest(content: bytes) -> str:
    """A digest as RECORD has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
