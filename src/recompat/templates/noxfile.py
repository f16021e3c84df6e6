# /// script
# dependencies = [
#     "nox[uv]>=2025.10",
#     {requirement},
# ]
# ///
"""On which PyTorch releases the patterns in matrix/cases work: ``nox -s matrix``."""

from recompat.nox import define_sessions

define_sessions(__file__)
