"""What the tests share: wheels that they build, a package index on loopback, a project to run nox in."""
