"""The parts that models are assembled from."""
