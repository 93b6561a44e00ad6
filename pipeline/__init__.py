"""The stages, one short module each: the only place that knows paths, DVC and progress bars."""
