"""One file per format. Each renderer is a pure function of a ``Summary``; none can change a verdict."""
