"""What stages read and write: artifacts, measurements, the parts of a system."""
