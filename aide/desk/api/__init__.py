"""Answers that join what several apps know."""
