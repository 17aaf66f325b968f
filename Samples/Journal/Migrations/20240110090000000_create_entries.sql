CREATE TABLE entry(
    id INTEGER PRIMARY KEY,
    day TEXT,
    text TEXT
);
