"""Training: scripts that read from top to bottom, and the pieces that they share."""
