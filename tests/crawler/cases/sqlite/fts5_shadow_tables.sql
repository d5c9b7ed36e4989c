-- Full-text virtual table and its shadow tables
CREATE VIRTUAL TABLE docs USING fts5(title, body, tokenize = 'porter');
