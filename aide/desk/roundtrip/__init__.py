"""Descriptions, owners and tags by spreadsheet: export for editing, upload, look at each cell, apply as one batch."""
