"""What to do: pure functions of a read-only view. The engine asks and never looks who answers."""
