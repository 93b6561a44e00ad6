"""Metrics, one module per family. Each value has an interval and a signature."""
