"""Nouns: frozen, without input or output. Time and money meet in `records`."""
