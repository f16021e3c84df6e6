# /// script
# dependencies = [
#     "argcomplete>=3.1",
#     "filelock>=3.16",
#     "jinja2>=3.1",
#     "msgspec>=0.20",
#     "nox[uv]>=2025.10",
#     "packaging>=24.2",
#     "python-discovery>=1.9",
#     "rich>=14",
#     "tabulate>=0.9",
#     "tomlkit>=0.13",
#     "unearth>=0.17",
# ]
# ///
"""Compatibility of activation-checkpointing patterns with PyTorch releases.

The block above repeats what pyproject.toml has in its extra `run` (a test holds them together): nox makes an environment of them for
itself, so that nothing but nox[uv] has to be installed beforehand.
"""

import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "src"))

from recompat.nox import define_sessions

nox.needs_version = ">=2025.10"
nox.options.default_venv_backend = "uv"
nox.options.sessions = ["matrix"]

define_sessions(__file__)


def _install(session: nox.Session, *groups: str) -> None:
    """Install recompat as it stands here, and the dependency groups."""
    session.install("-e", ".[run]", *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), *groups))


def _new_project(session: nox.Session) -> Path:
    """What ``recompat init`` lays into a repository: users check it as they check their own."""
    made = Path(session.create_tmp()) / "project"
    shutil.rmtree(made, ignore_errors=True)
    (made / ".git").mkdir(parents=True)
    session.run("recompat", "init", "--quiet", str(made))
    return made


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run the tests, those on real PyTorch wheels included; ``-- -m "not wheels"`` leaves these out."""
    _install(session, "test")
    session.run("pytest", *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Run the tests that drive Chromium, and those that fetch others' schemas with npm."""
    missing = [command for command in ("chromium", "npm") if shutil.which(command) is None]
    if missing:
        session.error(f"There is no {' and no '.join(missing)} here; on Debian, apt-get install chromium npm.")
    _install(session, "test", "browser")
    session.run("pytest", "-m", "browser or published", "-n", "1", *session.posargs)


@nox.session(default=False)
def faults(session: nox.Session) -> None:
    """Inject faults for real, many times; ``-- [NAME] [--times N] [--seed S]`` says which, and docs/reliability.md what came of it."""
    _install(session, "test", "fuzz")
    session.run("python", "-m", "faults", *session.posargs, env={"PYTHONPATH": "tests"})


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Time recompat beside what people would otherwise do, in turns; ``-- [NAME] [--rounds N]``, and benchmarks/README.md."""
    _install(session)
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check style and format."""
    _install(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    made = str(_new_project(session))
    session.run("ruff", "check", "--isolated", "--no-respect-gitignore", made)
    session.run("ruff", "format", "--check", "--isolated", "--no-respect-gitignore", made)


@nox.session(default=False)
def workflows(session: nox.Session) -> None:
    """Check the workflows, ours and that of a new project: against their schema, and for what is unsafe, offline."""
    session.install(
        "-e", ".[run]", *nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "workflows")
    )
    files = sorted(map(str, Path(".github/workflows").glob("*.yml")))
    files.append(str(_new_project(session) / ".github" / "workflows" / "recompat.yml"))
    session.run("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    session.run("zizmor", "--offline", "--no-progress", *files)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site of the documentation in docs/_build; a link within the repository that leads nowhere is an error."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "docs"))
    options = ("--fail-on-warning", "--keep-going", "--nitpicky", "--fresh-env", "--quiet")
    session.run("sphinx-build", *options, "--conf-dir", "docs", ".", "docs/_build", *session.posargs)
    session.run("check-jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff")


@nox.session(default=False)
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    _install(session, "types")
    session.run("mypy")
