"""Metrics: one module a family, each value with its interval and its signature."""
