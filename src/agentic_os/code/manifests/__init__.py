"""Package manifests of every ecosystem: what a project provides, needs and starts."""
