"""Campaigns that inject a fault for real, many times; docs/reliability.md tells what they found.

Each is a module with ``TIMES``, how often unless told otherwise, and ``run(times, seed) -> Tally``.
"""
