"""Checkpointing in transformers, on releases of transformers and of PyTorch: ``nox -s matrix``."""

from recompat.nox import define_sessions

define_sessions(__file__)
