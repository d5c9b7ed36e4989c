"""The API of crawling: schedules, runs with their reports, proposals and decisions."""
