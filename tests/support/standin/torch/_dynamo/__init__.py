"""Only here to be imported: the first ``checkpoint()`` of a process does."""
