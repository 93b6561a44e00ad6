"""Rehearsals: run every stage of a profile on few rows and steps, to check that all run and to measure their cost."""
