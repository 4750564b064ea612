"""How fast the engine is, as multiples of what others take for the same in the same run."""
