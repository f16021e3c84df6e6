"""Runs cases inside a torch environment and writes down what happened. This docstring is the wire contract.

Started by path, so that nothing is installed beside torch and no path is added::

    python -I -B -X faulthandler …/recompat_probe/__main__.py --out FILE [options] [FILE.py::case …]

``--facts``             only say what is installed; run nothing. Imports ``torch._dynamo`` too.
``--warm``              import ``torch._dynamo`` before the first trial (else torch alone).
``--isolation fork``    a forked child per trial (the default where there is fork). With ``none`` the trial runs in this
                        process: the host starts one process per case and reads a death as that case's.
``--jobs N``            how many forked children at once (default 1).
``--timeout SECONDS``   limit of one trial (default 60); with ``--isolation none`` the host holds the clock.

A case is named by the path of its file and its name: ``/some/where/sdpa_policy.py::default_policy``.

FILE gets JSON Lines, each written with one ``write`` and in order; stdout and stderr are a log and are never parsed.

``{"event": "header", "wire": 1, "python": "3.11.7", "tag": "cp311", "implementation": "cpython", "platform":
"linux_x86_64", "libc": "glibc 2.36"}``
    Before ``import torch``.
``{"event": "torch", "imported": "2.11.0+cu130", "flavour": "cu130", "distribution_sha256": "…", "cpu_capability":
"AVX512", "threads": 1, "packages": {"torch": "2.11.0", …}, "seconds": 1.6}``
    What was imported. ``flavour`` is ``cpu``, ``cu130``, ``rocm6.4`` or ``xpu``; the digest is that of the ``RECORD`` file of the
    installed torch distribution, or "" where it has none.
``{"event": "import-failed", "type": "builtins.ImportError", "message": "…"}``
    Instead of ``torch``; nothing follows but ``end``.
``{"event": "started", "case": "sdpa_policy::default_policy"}``
``{"event": "finished", "case": "…", "sha256": "…", "outcome": "pass", "seconds": 0.02, "raised": null, "differences": [],
"warnings": [], "detail": null}``
    One pair a trial. ``sha256`` is that of the bytes that were compiled; the other keys are those of ``Trial`` in the record's
    schema, but for ``raised.mismatches``, which the host reads from the message.
``{"event": "end"}``
    The last line of a probe that was not killed. Without it, whatever was started and not finished is what it died of.

Exit status: 0 if ``end`` was written, 2 for bad arguments, 90 for a Python that is too old.
"""
