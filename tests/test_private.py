from __future__ import annotations

import random
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from builders import differs, raises, record, result, trouble, warns
from evidence_builders import call, evidence
from recompat.model import Record, Replay, TroubleKind
from recompat.options import parse_options
from recompat.private import Scrubber, may_be_private, scrub
from recompat.record import encode_record, load_record, load_records, save_record
from recompat.setup import load_setup
from recompat.standing import pending_cases
from recorded import make_project

ROOT = Path(__file__).parents[1]
HERE = Scrubber(["/home/Jane Doe", r"C:\Users\Jane Doe", "/"], "build7.corp.example.com", "jane")

SHOWN = {
    "/x/site-packages/torch/utils/checkpoint.py:3": "torch/utils/checkpoint.py:3",
    "/x/dist-packages/torch/x.py": "torch/x.py",
    "/x/lib/python3.11/site-packages/foo/x.py": "site-packages/foo/x.py",
    "/x/lib/python3.11/site-packages": "lib/python3.11/site-packages",
    "/x/lib/python3.11/threading.py:9": "lib/python3.11/threading.py:9",
    "/pytorch/torch/csrc/x.cpp:61": "torch/csrc/x.cpp:61",
    "/opt/pytorch/third_party/ideep/x.hpp": "third_party/ideep/x.hpp",
    "/home/me/pytorch/secret/x.py": "…/x.py",
    "/tmp/run/src/recompat_probe/trial.py:67:run": "recompat_probe/trial.py:67:run",
    "/home/me/work/matrix/cases/sdpa.py:3": "sdpa.py:3",
    "<cases>/sdpa.py:3": "sdpa.py:3",
    "<env>/lib/python3.11/site-packages/torch/x.py": "torch/x.py",
    "<python>/lib/libpython3.11.so.1.0:14": "…/libpython3.11.so.1.0:14",
    "~/work/client/x.py": "…/x.py",
    "/home/me/x.py": "…/x.py",
    "(see /home/me/x.py).": "(see …/x.py).",
    "//home//me/./x.py": "…/x.py",
    "/usr/bin:/home/me/bin": "…/bin:…/bin",
    "/home/me": "…",
    "in /Users/me/.": "in ….",
    "/site-packages/torch/../../home/me/x.py": "…/x.py",
    r"/home/me/a\ b/c.py": "…/c.py",
    'File "/a b/c d/x.py", line 3': 'File "…/x.py", line 3',
    "PosixPath('/home/me/My Work/x.py')": "PosixPath('…/x.py')",
    "`/usr/bin/g++ /tmp/q/x.cpp -I/usr/inc/ssl`": "`…/g++ …/x.cpp -I…/ssl`",
    r"b'x\n/home/me/y.c:3'": r"b'x\n…/y.c:3'",
    "/home/jürgen/größe.py": "…/größe.py",
    "\u201c/home/me/x.py\u201d": "\u201c…/x.py\u201d",
    "file:///home/me/torch-2.0.whl": "…/torch-2.0.whl",
    "foo @ file:///C:/Users/me/foo-1.whl": "foo @ …/foo-1.whl",
    "sqlite:////home/me/x.db": "…/x.db",
    r"C:\Users\me\x.py": "…/x.py",
    r"'C:\\Users\\me\\My Work\\x.py'": "'…/x.py'",
    r"C:\Users\me": "…",
    "D:/a/x.py": "…/x.py",
    r"\\?\C:\Users\me\x.py": "…/x.py",
    r"C:\env\Lib\site-packages\torch\x.py": "torch/x.py",
    r"<env>\Lib\site-packages\torch\x.py": "torch/x.py",
    r"\\server\share\x\y.py": "…/y.py",
    "https://me:token@host/simple/torch": "https://host/simple/torch",
    "git+https://token@host/x": "git+https://host/x",
    "me@build9:/home/me/x": "<user>@<host>:…/x",
    "me@build9:~$": "<user>@<host>:~$",
}

UNTOUCHED = (
    "torch/utils/checkpoint.py",
    "../torch/csrc/autograd/x.cpp:111",
    "./csu/../csu/libc-start.c",
    "https://github.com/pytorch/pytorch/issues/166926",
    "a / b, a/b, a//b and (1 + 2)/c/d",
    "3/4 on 2026/05/09, 24/7, N/A",
    "aten/native and/or aten._softmax",
    "recompat/record/1",
    "/tmp or /",
    r"the pattern \d+/\w+ and ^/api/v1/ and \/a\/b and '\\d\\d\\d'",
    "+~~~~~~~~+ ~x",
    "#/definitions/Record",
    "std::vector<int>/2",
    "C:0 x:y 'a': 'b'",
    "<cases> and <env>",
    "matmul a@b, security@example.org",
    "Shape [2, 4]:\n\n",
)

KNOWN = {
    "in /home/Jane Doe/x.py": "in …/x.py",
    "/home/Jane Doe": "…",
    r"C:\Users\Jane Doe\x\y.py": "…/y.py",
    r"'C:\\Users\\Jane Doe\\y.py'": "'…/y.py'",
    "/home/Jane Doeling": "… Doeling",
    "/tmp/pytest-of-jane": "…/pytest-of-<user>",
    "/tmp/torchinductor_jane": "…/torchinductor_<user>",
    "jane is a name": "jane is a name",
    "jane@gpu3 and me@build7": "<user>@<host> and <user>@<host>",
    "build7, BUILD7 and build7.corp.example.com:80": "<host>, <host> and <host>:80",
    "file://build7/share/x": "…/x",
    "build77 rebuild7 x.build7": "build77 rebuild7 x.build7",
}


@pytest.mark.parametrize("text", SHOWN)
def test_a_path_is_shown_from_where_everybody_has_the_same(text: str) -> None:
    assert scrub(text) == SHOWN[text]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_path_stays(text: str) -> None:
    assert scrub(text) == text
    assert HERE.text(text, prose=True) == text


@pytest.mark.parametrize("text", KNOWN)
def test_this_machine_knows_its_own_words(text: str) -> None:
    assert HERE.text(text, prose=True) == KNOWN[text]


def test_a_host_is_looked_for_in_prose_alone() -> None:
    data = {"outcome": "crash", "raised": {"type": "crash.Error", "message": "at crash"}, "texts": ["crash"]}
    expected = {"outcome": "crash", "raised": {"type": "crash.Error", "message": "at <host>"}, "texts": ["crash"]}
    assert Scrubber(host="crash").data(data) == expected


@pytest.mark.parametrize("name", ["", "vm", "127", "localhost", "torch"])
def test_a_host_whose_name_tells_nothing_is_no_secret(name: str) -> None:
    text = f"torch {name}: vm 127 localhost"
    assert Scrubber(host=name).text(text, prose=True) == text


def test_keys_are_scrubbed_as_well() -> None:
    assert scrub({"/home/me/x": [{"a": ("~/work/y",)}], "n": 1.5, "none": None}) == {
        "…/x": [{"a": ["…/y"]}],
        "n": 1.5,
        "none": None,
    }


PIECES = (
    *"/\\:.~@…<>'\"`()=-,;|\n\t#*+&é\x1b\0\u2028 ab",
    *("site-packages", "torch", "lib", "python3.11", "home", "users", "C:", "b.py", "..", "matrix", "cases", "pytorch"),
    *(
        "<cases>",
        "<env>",
        "<host>",
        "file://",
        "https://",
        "me@h",
        ":~/",
        "\\n",
        "-I",
        "\\\\?\\",
        "\\\\srv",
        "/home/me/",
    ),
    *("build7", "jane", "/home/Jane Doe", "C:\\Users\\Jane Doe", "recompat_probe"),
)


def texts(seed: int, count: int, longest: int) -> list[str]:
    """Texts made of what the patterns look for, put together at random, and the same ones each time."""
    chance = random.Random(seed)
    return ["".join(chance.choices(PIECES, k=chance.randint(1, longest))) for _ in range(count)]


@pytest.mark.parametrize("longest", [6, 14, 60])
def test_what_was_scrubbed_stays_as_it_is(longest: int) -> None:
    for text in texts(longest, 60_000 // longest, longest):
        for once in (scrub(text), HERE.text(text, prose=True)):
            assert scrub(once) == once, text
        assert HERE.text(once, prose=True) == once, text


@pytest.mark.parametrize("longest", [6, 14])
def test_whatever_would_be_scrubbed_is_suspected(longest: int) -> None:
    found = [text for text in texts(longest + 1, 60_000 // longest, longest) if scrub(text) != text]
    assert len(found) > 500
    assert [text for text in found if not may_be_private(msgspec.json.encode({"a": [text]}))] == []


@pytest.mark.parametrize("written", [rb'"\/home\/me\/x"', rb'"\u002fhome\u002fme\u002fx"', rb'"C\u003a\\Users\\me\\x"'])
def test_what_json_may_escape_is_suspected(written: bytes) -> None:
    assert scrub(msgspec.json.decode(written)) == "…/x"
    assert may_be_private(written)


def test_what_was_scrubbed_is_not_suspected() -> None:
    clean = [*UNTOUCHED[:8], *(SHOWN[text] for text in SHOWN if "@" not in text), "https://x.org/a/b", "a\nb\t\\d"]
    assert [text for text in clean if may_be_private(msgspec.json.encode(text))] == []


@pytest.mark.parametrize(
    "piece", ["/a", " /a", "'/ ", "@", "a@b:", "a+", "C:\\", "\\", "\\\\abc", "://", "/.", "build7."]
)
def test_a_long_text_takes_no_more_than_its_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    HERE.text(text, prose=True)
    may_be_private(msgspec.json.encode(text))
    assert time.process_time() - started < 5


PATH = "at /home/me/secret/x.py:3"
CLEAN = "at …/x.py:3"


def everywhere(text: str) -> Record:
    """A record with ``text`` wherever a text may stand."""
    seen = evidence(call(settings={text: text}, operators="aten.mm", ending=text), exception=text, detail=text)
    trials = {
        Replay.COLD: raises(text, text, frames=(text,)),
        Replay.WARM: differs(None, text),
        Replay.WARM_COPIED: msgspec.structs.replace(warns(text), detail=text),
    }
    one = msgspec.structs.replace(result("a::b"), trials=trials, evidence=seen)
    whole = record("2.11.0", one, trouble=trouble(reason=text))
    assert whole.facts is not None
    facts = msgspec.structs.replace(whole.facts, source=text, libc=text, packages={"foo": text, text: "1"})
    run = msgspec.structs.replace(whole.run, options={"packages": text, text: ""}, seconds={text: 1.0})
    return msgspec.structs.replace(whole, facts=facts, run=run)


def test_no_field_of_a_record_keeps_a_path(tmp_path: Path) -> None:
    path = save_record(tmp_path, everywhere(PATH))
    assert b"secret" not in path.read_bytes()
    assert msgspec.structs.replace(load_record(path), digest="") == everywhere(CLEAN)


def test_a_record_from_before_is_scrubbed_when_it_is_read(tmp_path: Path) -> None:
    old = everywhere(PATH)
    path = tmp_path / f"{old.environment.id}.json"
    path.write_bytes(encode_record(old))
    (found,), sentences = load_records(tmp_path)
    assert sentences == ()
    assert msgspec.structs.replace(found, digest="") == everywhere(CLEAN)


def test_a_record_from_before_that_was_edited_is_still_noticed(tmp_path: Path) -> None:
    old = everywhere(PATH)
    path = tmp_path / f"{old.environment.id}.json"
    path.write_bytes(encode_record(old).replace(b"secret", b"public"))
    assert load_records(tmp_path)[0] == ()


def test_a_record_is_saved_without_the_words_of_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "Jane Doe"))
    monkeypatch.setenv("LOGNAME", "jane")
    monkeypatch.setattr(socket, "gethostname", lambda: "build7")
    project = tmp_path / "my project"
    said = f"jane@build7 {tmp_path}/Jane Doe/x.py {project}/y.py /tmp/of_jane"
    saved = save_record(project / "reports" / "records", record("2.11.0", trouble=trouble(reason=said)))
    found = load_record(saved).trouble
    assert found is not None
    assert found.reason == "<user>@<host> …/x.py …/y.py …/of_<user>"


def test_a_login_of_an_index_is_no_part_of_a_record(tmp_path: Path) -> None:
    reason = "torch 2.11.0 could not be looked up: https://me:token@nexus.example.org/simple answered 403."
    found = load_record(save_record(tmp_path, record("2.11.0", trouble=trouble(TroubleKind.UNREACHABLE, reason))))
    assert found.trouble is not None
    assert found.trouble.reason == reason.replace("me:token@", "")


def test_results_stand_beside_a_package_from_a_folder(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    text = project.matrix.read_text()
    project.matrix.write_text(text.replace('"numpy<2"', '"foo @ file:///home/me/foo-1.0-py3-none-any.whl"'))
    setup = load_setup(project, parse_options([]))
    release = setup.matrix.default[-1]
    made = record(str(release), *(result(case.id, sha256=case.sha256) for case in setup.addresses))
    run = msgspec.structs.replace(made.run, options=setup.terms(release))
    found = load_record(save_record(project.records, msgspec.structs.replace(made, run=run)))
    assert "foo @ …/foo-1.0-py3-none-any.whl" in found.run.options["packages"]
    assert pending_cases(found, setup.addresses, found.run.probe_sha256, setup.terms(release)) == []


def test_cold_and_copied_trials_agree_on_where_a_case_file_is(tmp_path: Path) -> None:
    cold, copied = raises(message="in <cases>/a.py"), raises(message="in /tmp/recompat-x/matrix/cases/a.py")
    saved = save_record(tmp_path, record("2.11.0", result("a::b", cold, cold, copied)))
    trials = load_record(saved).results[0].trials
    assert trials[Replay.COLD] == trials[Replay.WARM_COPIED] == raises(message="in a.py")


MACHINE = re.compile(
    r"(?<![\w.~…}>-])/(?:Users|data|etc|home|lib|mnt|opt|private|proc|root|srv|tmp|usr|var|work\w*)/|[A-Za-z]:\\\\?Users"
)


@pytest.mark.parametrize("path", sorted((ROOT / "matrix" / "baseline").glob("*.json")), ids=lambda path: path.stem)
def test_no_accepted_record_names_a_place_on_a_machine(path: Path) -> None:
    content = path.read_text(encoding="utf-8")
    assert MACHINE.findall(content.replace("\\n", "\n")) == []
    assert not may_be_private(content.encode())  # so that reading it is fast


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_no_page_names_a_place_on_a_machine(name: str) -> None:
    assert MACHINE.findall((ROOT / "docs" / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", ["/tmp/x/y.py", "\n/home/me/x", r"C:\Users\me", '"/usr/lib/x'])
def test_such_a_place_would_be_found(text: str) -> None:
    assert MACHINE.search(text)


@pytest.mark.parametrize(
    "path", ["/a" * 2_000_000, "/a\\ " * 1_000_000, "'" + "/a" * 2_000_000 + "'", "'" + "/a b" * 1_000_000 + "'"]
)
def test_a_path_of_megabytes_takes_no_gigabytes(path: str) -> None:
    code = (
        "import resource, sys; from recompat.private import scrub; x = scrub(sys.stdin.read()); assert scrub(x) == x; "
    )
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    done = subprocess.run([sys.executable, "-c", code], input=path, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 300, "MiB"
