"""Queued work: one row a piece, carried out by a thread of the web process or by Celery."""
