"""What fuzzing begins with: real files of each kind, cut small, and the words that their readers look for."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec
from packaging.version import Version

from builders import record, result
from recompat.cases import CaseFile, read_case_files
from recompat.lock import Lock, LockedEnvironment, LockedPackage, render_lock
from recompat.model import CaseResult, Record, Replay, Trial
from recompat.record import encode_record, load_record
from recompat.tables import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
LIBRARY = ROOT / "matrix"
FILES = ("sdpa_policy", "arguments")
LONGEST = 800  # characters of a message
NAME = "torch2.11.0-cp311-linux_x86_64.json"

WORDS_OF_A_MATRIX = (
    *("torch", "run", "sources", "extras", "default", "ci", "axes", "known", "timeout", "cpu-index", "find-links"),
    *("index-urls", "packages", "reason", "cases", "os", "python", "[torch]", "[[extras]]", "[[axes]]"),
)
WORDS_OF_A_LOCK = (
    *(
        "lock-version",
        "torch",
        "python",
        "platform",
        "requires",
        "packages",
        "name",
        "version",
        "sha256",
        "[[environment]]",
    ),
    *("beside", f'"{"0" * 64}"', '{ name = "numpy", version = "1", sha256 = [] }', "environment"),
)
WORDS_OF_CLAIMS = (
    *("torch", "outcome", "reason", "exception", "link", "warns", "until", "sdpa_policy", "sdpa_policy.default_policy"),
    *("arguments.nothing", '"a b".c'),
)
WORDS_OF_A_MESSAGE = (
    *("Traceback (most recent call last):", 'File "', '", line 1, in f', "tensor at position 0:", "saved metadata: {"),
    *("recomputed metadata: {'shape': torch.Size([2]), 'dtype': torch.float32, 'device': device(type='cpu')}", "}"),
    *(
        "Number of tensors saved during forward: 1",
        "Number of tensors saved during recomputation: 2",
        "[rank1]: ",
        "&quot;",
    ),
    *(
        "have different metadata than during the forward pass",
        "\\n",
        "│",
        "\x1b[31m",
        "torch==2.11.0",
        "&#x27;",
        "pid=12)",
    ),
    *(
        "A different number of tensors was saved during the original forward and recomputation",
        "torch/utils/checkpoint.py",
    ),
    *("An error happened while unpacking tensors; dumping logs of latest computation", "torch._ops.aten.sin.default("),
    *("(1 of 2 in original)", "trying to save more tensors during recomputation than during the original forward"),
)
WORDS_OF_A_SCRIPT = (
    *(
        "# /// script",
        "# ///",
        "#",
        "# dependencies = [",
        "# ]",
        '# requires-python = ">=3.11"',
        "def case_a():",
        "#\t",
    ),
    *(
        '#   "numpy @ http://[",',
        "# [tool.uv]",
        "# a = {",
        "\r",
        "\x0c",
        "# -*- coding: utf-7 -*-",
        "# coding: latin-1",
    ),
)
WORDS_OF_A_CASE = (
    *(
        "def case_b():",
        "async def case_c():",
        "class case_d:",
        '    """Title.',
        ":report: a/b#1",
        ":repairs: a",
        ":requires:",
    ),
    *(
        ":detected: builtins.RuntimeError: text",
        ":restores: x (use_reentrant=True)",
        ":observes: warnings",
        ":process: own",
    ),
    *(
        ":tolerance: atol=1",
        ":unrepaired: no",
        'FAMILY = "x"',
        "lambda: (",
        "f'{",
        "\\",
        "if 1:",
        "    " * 30,
        '"""',
        "match x:",
    ),
)
WORDS_OF_A_PATH = (
    *(
        "/home/me/x.py",
        "C:\\Users\\me",
        "\\\\server\\share\\x",
        "me@host:/x",
        "http://me:pw@host/",
        "file:///",
        "~/",
        "<env>/",
    ),
    *(
        "site-packages/torch/",
        "matrix/cases/",
        "lib/python3.11/",
        "/",
        "\\",
        "'",
        '"',
        "@",
        ":",
        "-I",
        "\\n",
        "…",
        "..",
        "\\ ",
    ),
)


def good() -> Record:
    """A record of another release, to stand beside what is fuzzed."""
    return record("2.9.1", result("sdpa_policy::default_policy"))


@cache
def records() -> list[bytes]:
    """Accepted records with few results each, under one name: as varied as the library is."""
    kept = [_cut(load_record(path)) for path in sorted((LIBRARY / "baseline").glob("*.json"))[::9]]
    return [encode_record(msgspec.structs.replace(one, environment=good_environment())) for one in (*kept, good())]


def good_environment() -> Any:
    """The environment whose record stands in the file that is read."""
    return record("2.11.0").environment


def lay_out(root: Path) -> None:
    """Make a project of two of the library's case files, with their claims, and one accepted record of them."""
    (root / "matrix" / "cases").mkdir(parents=True)
    (root / "matrix" / "baseline").mkdir()
    for name in FILES:
        (root / "matrix" / "cases" / f"{name}.py").write_bytes((LIBRARY / "cases" / f"{name}.py").read_bytes())
    (root / "matrix" / "matrix.toml").write_bytes((LIBRARY / "matrix.toml").read_bytes())
    (root / "matrix" / "expectations.toml").write_text(_claims_of(FILES), encoding="utf-8")
    path = next((LIBRARY / "baseline").glob("torch2.15.0-*.json"))
    (root / "matrix" / "baseline" / path.name).write_bytes(encode_record(_of(load_record(path), FILES)))


@cache
def speak_of() -> tuple[tuple[CaseFile, ...], tuple[Version, ...]]:
    """The case files and the releases that claims may speak of."""
    files = tuple(file for file in read_case_files(LIBRARY / "cases") if file.path.stem in FILES)
    return files, tuple(map(Version, ("2.0.1", "2.1.2", "2.11.0", "2.15.0")))


def listings() -> list[bytes]:
    """What an index offered."""
    one = {
        "date": "2026-11-29T12:00:00Z",
        "releases": ["2.9.1", "2.10.0"],
        "previews": [],
        "schema": "recompat/index/1",
    }
    return [json.dumps(one).encode(), json.dumps({**one, "previews": ["2.16.0.dev20261120"]}).encode()]


def changes() -> list[bytes]:
    """What is read of the answer of a watch."""
    return [json.dumps({"releases": [{"torch": "2.15.0", "complete": False, "changes": []}]}).encode()]


def plans() -> list[bytes]:
    """What ``recompat ci-matrix`` prints."""
    job = {"torch": "2.11.0", "os": "ubuntu-24.04", "python": "3.11", "cases": "", "source": "auto", "session": "s"}
    return [json.dumps({"include": [job, {**job, "beside": {"numpy": "1.26.4"}}]}).encode()]


def matrices() -> list[bytes]:
    """The library's own, and one with every key."""
    everything = (
        '[torch]\ndefault = ["2.11.0"]\nknown = ["2.1.0"]\n[run]\ntimeout = 5\n[sources]\ncpu-index = "https://a.example/"\n'
        'find-links = ["."]\nindex-urls = ["https://b.example/"]\n[[extras]]\ntorch = "<2.3"\npackages = ["numpy<2"]\n'
        'reason = "why"\n[[default]]\ncases = ["a::b"]\nreason = "why"\n[ci]\nos = ["ubuntu-24.04"]\npython = ["3.11"]\n'
    )
    return [everything.encode()]


def locks() -> list[bytes]:
    """What ``recompat lock`` writes."""
    packages = tuple(
        LockedPackage(name, version, ("a" * 64,)) for name, version in (("torch", "2.11.0"), ("numpy", "1.26.4"))
    )
    one = LockedEnvironment("2.11.0", "cp311", "linux_x86_64", packages, ("numpy<2",))
    return [render_lock(Lock((one, msgspec.structs.replace(one, python="cp312", beside={"numpy": "1.26.4"})))).encode()]


@cache
def claims() -> list[bytes]:
    """Some of the library's claims."""
    whole = _claims_of(FILES)
    return [whole[:1_500].rpartition("\n\n")[0].encode(), whole.split("\n\n")[0].encode()]


@cache
def pasted() -> list[bytes]:
    """The messages of accepted records, as they stand in a log."""
    found = [
        "\n".join(("Traceback (most recent call last):", *raised.frames, f"{raised.type}: {raised.message}"))[:LONGEST]
        for one in records()
        for result in msgspec.json.decode(one, type=Record).results
        for trial in result.trials.values()
        if (raised := trial.raised) is not None
    ]
    return [text.encode() for text in (*list(dict.fromkeys(found))[:20], found[0].replace("\n", "\n[rank0]: "))]


def scripts() -> list[bytes]:
    """Scripts with and without a block of metadata."""
    block = '# /// script\n# requires-python = ">=3.9"\n# dependencies = [\n#   "torch",\n#   "numpy<2",\n# ]\n# ///\n'
    return [f"{block}import torch\n\nprint(torch)\n".encode(), b"def case_a():\n    '''A.'''\n", b"x = 1\n"]


def case_files() -> list[bytes]:
    """The shortest of the library, and one with every field."""
    fields = "".join(f"    {word}\n" for word in WORDS_OF_A_CASE if word.startswith(":"))
    everything = f'"""File."""\nFAMILY = "a-b"\ndef case_a():\n    """Title.\n\n    Text.\n\n{fields}    """\n'
    return [everything.encode(), (LIBRARY / "cases" / "sdpa_policy.py").read_bytes()[-3_000:]]


def events() -> list[bytes]:
    """What probes wrote on real releases, and what a script's runner writes."""
    lines = (ROOT / "tests" / "samples" / "2.11.0.jsonl").read_bytes().splitlines()
    raised = {"type": "builtins.ValueError", "phase": "forward", "message": "no", "frames": ["a.py:1 in f"]}
    told = (
        {"event": "started"},
        {"event": "warned", "category": "builtins.UserWarning", "text": "mind"},
        {"event": "raised", "raised": raised, "at_exit": False},
        {"event": "exit", "message": "3"},
        {"event": "end"},
    )
    script = b"\n".join(json.dumps(event).encode() for event in told)
    return [script, *(b"\n".join(lines[place : place + 3]) for place in range(0, len(lines), 3))]


def private() -> list[bytes]:
    """Paths and addresses, in words."""
    return [b"in /home/me/x.py and C:\\Users\\me\\y.py", " ".join(WORDS_OF_A_PATH).encode(), *pasted()[:3]]


@cache
def words_of_records() -> tuple[str, ...]:
    """The names of all fields, and the words that they take."""
    return tuple(dict.fromkeys(_names(Record, set())))


def _names(kind: Any, seen: set[Any]) -> Iterator[str]:
    if kind in seen:
        return
    seen.add(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for name, inner in get_type_hints(kind).items():
            yield name
            yield from _names(inner, seen)
    elif isinstance(kind, type) and issubclass(kind, str) and kind is not str:
        yield from map(str, kind)  # type: ignore[call-overload]
    for inner in get_args(kind):
        if not isinstance(inner, str):
            yield from _names(inner, seen)


def _of(one: Record, files: tuple[str, ...]) -> Record:
    kept = tuple(result for result in one.results if result.case.partition("::")[0] in files)
    return msgspec.structs.replace(one, results=kept)


def _cut(one: Record) -> Record:
    """Keep the first result of two outcomes, with its evidence, and of all that is long the beginning."""
    kept = {result.trials[Replay.COLD].outcome: result for result in _of(one, FILES).results}
    return msgspec.structs.replace(one, results=tuple(map(_short, list(kept.values())[:2])))


def _short(result: CaseResult) -> CaseResult:
    trials = {replay: _short_trial(trial) for replay, trial in list(result.trials.items())[:2]}
    evidence = result.evidence
    if evidence is not None:
        calls = [msgspec.structs.replace(call, operators=call.operators[:3]) for call in evidence.calls[:2]]
        evidence = msgspec.structs.replace(evidence, calls=tuple(calls))
    return msgspec.structs.replace(result, trials=trials, evidence=evidence)


def _short_trial(trial: Trial) -> Trial:
    raised = trial.raised
    if raised is not None:
        message, mismatches = raised.message[:LONGEST], raised.mismatches[:1]
        raised = msgspec.structs.replace(raised, message=message, mismatches=mismatches, frames=raised.frames[-2:])
    return msgspec.structs.replace(trial, raised=raised, differences=trial.differences[:2])


def _claims_of(files: tuple[str, ...]) -> str:
    """The tables of the library's claims that are of these files, as they are written there."""
    path = LIBRARY / "expectations.toml"
    known = {f"[[{stem}.{name}]]" for stem in files for name in read_toml(path)[stem]}  # type: ignore[attr-defined]
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    text = "\n\n".join(block for block in blocks if block.split("\n")[0] in known)
    tomllib.loads(text)
    return text + "\n"
