"""Mitchell: The Card Game."""
