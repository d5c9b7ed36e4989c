"""Changing many rows together: choose, see before and after, apply as one batch, undo it within a day."""
