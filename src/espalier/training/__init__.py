"""Training: one loop for all models, with schedules and checkpoints."""
