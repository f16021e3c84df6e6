"""Runs cases inside a torch environment and writes down what happened. This docstring is the wire contract.

Started by path, so that nothing is installed beside torch and no path is added::

    python -I -B -X faulthandler .../recompat_probe/__main__.py --out FILE [options] [FILE.py::case ...]

``--facts``             only say what is installed; run nothing. Imports ``torch._dynamo`` too, which byte-compiles it.
``--warm``              import ``torch._dynamo`` before the first trial (else torch, and sympy, which ``torch._dynamo`` needs).
``--evidence``          after all trials, run each case once more and watch it: an ``evidence`` event each.
``--isolation fork``    a forked child per trial (the default where there is fork). With ``none`` the trial runs in this
                        process: the host starts one process per case and reads a death as that case's.
``--jobs N``            how many forked children at once (default 1).
``--timeout SECONDS``   limit of one trial (default 60); with ``--isolation none`` the host holds the clock.

A case is named by the path of its file and its name: ``/some/where/sdpa_policy.py::default_policy``.

FILE gets JSON Lines, each appended with one ``write`` and in order; stdout and stderr are a log and are never parsed. While
trials run there is a folder ``trials-*`` beside FILE; a probe that is killed by SIGKILL leaves it there.

``{"event": "header", "wire": 1, "python": "3.11.7", "tag": "cp311", "implementation": "cpython", "platform":
"linux_x86_64", "libc": "glibc 2.36"}``
    Before ``import torch``.
``{"event": "torch", "imported": "2.11.0+cu130", "flavour": "cu130", "distribution_sha256": "...", "cpu_capability":
"AVX512", "threads": 1, "packages": {"torch": "2.11.0"}, "seconds": 1.6}``
    What was imported. ``flavour`` is ``cpu``, ``cu130``, ``rocm6.4`` or ``xpu``; the digest is that of the ``RECORD`` file
    of the installed torch distribution, or "" where it has none; ``seconds`` is what ``import torch`` took.
``{"event": "import-failed", "type": "builtins.ImportError", "message": "..."}``
    Instead of ``torch``; nothing follows but ``end``.
``{"event": "started", "case": "sdpa_policy::default_policy"}``
``{"event": "finished", "case": "sdpa_policy::default_policy", "sha256": "...", "outcome": "pass", "seconds": 0.02,
"raised": null, "differences": [], "warnings": [], "detail": null, "varies": false}``
    One pair a trial; with ``--jobs`` the pairs overlap. ``sha256`` is that of the bytes that were compiled, or "" where the
    file could not be read; the other keys are those of ``Trial`` in the record's schema, but for ``raised.mismatches``,
    which the host reads from the message. In all strings the folders of the case file, the environment, Python and the
    user's home are ``<cases>``, ``<env>``, ``<python>`` and ``~``, and what goes beyond 10,000 characters is cut off.
``{"event": "evidence", "case": "sdpa_policy::math_around_forward_only", "sha256": "...", "outcome": "raises", "exception":
"torch.utils.checkpoint.CheckpointError", "calls": [{"region": 0, "during": "forward", "reentrant": false, "settings":
{"sdpa.math": "on"}, "operators": ["aten._softmax"], "ending": "returned"}], "unwatched": 0, "detail": null}``
    What a watched trial saw, after the last ``finished``: every call of a function that was given to ``checkpoint()``, with the
    execution settings in force where it began, and the dispatcher's operators in order. The keys are those of ``Evidence`` in
    the record's schema, but for ``changes``, which the host derives. ``detail`` says in a sentence why there is nothing to see
    (the watched trial died, no call was seen). With ``--isolation none`` a death leaves neither this event nor ``end``.
``{"event": "end"}``
    The last line of a probe that was not killed. Without it, whatever was started and not finished is what it died of,
    unless the status is 70.

Exit status: 0 if ``end`` was written; 2 for bad arguments; 70 if the probe itself failed, FILE could not be written, say
(the log tells; no case is to blame); 90 for a Python that is too old; 128 + N if SIGTERM or SIGINT, number N, ended it and
its running trials (before the first trial such a signal simply kills it). On Linux the probe is killed with the *thread*
that started it, and a trial with its probe.
"""

import sys

if sys.version_info < (3, 8):  # noqa: UP036  (this may be any Python: so far the file is valid in all of them)
    sys.stderr.write("The probe needs Python 3.8 or newer; this is Python " + sys.version.split()[0] + ".\n")
    sys.exit(90)

import importlib.util
import os

if "recompat_probe" not in sys.modules:  # started by path: the siblings must be found without adding to sys.path
    FOLDER = os.path.dirname(os.path.abspath(__file__))
    SPEC = importlib.util.spec_from_file_location(
        "recompat_probe", os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER]
    )
    assert SPEC is not None
    assert SPEC.loader is not None
    sys.modules["recompat_probe"] = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(sys.modules["recompat_probe"])

from recompat_probe.replay import main

if __name__ == "__main__":
    main(sys.argv[1:])
