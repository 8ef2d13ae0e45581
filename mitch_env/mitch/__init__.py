"""Mitch: one engine for the Japanese, the Russian and the original tradition; see ``options.py`` for what tells them apart."""
