"""Speed, measured side by side with peers in one run; machines differ and wander, so only the ratios count."""
