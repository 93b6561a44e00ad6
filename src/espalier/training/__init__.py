"""Training: one loop for every model, its schedules, its checkpoints."""
