"""Tasks: what is decoded, and how it is judged."""
