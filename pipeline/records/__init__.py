"""Inputs and outputs of stages: artifacts, measurements, and the parts of a system."""
