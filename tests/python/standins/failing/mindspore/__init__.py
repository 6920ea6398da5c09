"""A MindSpore that cannot be imported."""

raise ImportError("libcudart.so.11 is missing")
