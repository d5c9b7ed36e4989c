"""People and programs: users, roles, API keys, log-in."""
