"""Dependencies between stages, and running stages: locks, threads, shards, seeds, rehearsals."""
