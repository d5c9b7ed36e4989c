"""Files that people bring → schema documents, for the same comparison and review as a crawl. Pure."""
