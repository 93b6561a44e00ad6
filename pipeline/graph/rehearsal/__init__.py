"""A rehearsal: every stage of a profile on few rows and few steps, to see that all of it runs and what it needs."""
