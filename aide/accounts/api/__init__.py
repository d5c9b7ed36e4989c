"""The API of people and programs, and of logging in."""
