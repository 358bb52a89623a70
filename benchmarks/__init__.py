"""Measurements that anyone can repeat: `python -m benchmarks.FOLDER.NAME`. README.md lists them by question."""
