"""Which stage needs which, and how stages run: locks, threads, shards, seeds, rehearsals."""
