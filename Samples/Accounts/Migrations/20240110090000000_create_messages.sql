CREATE TABLE message(
    id INTEGER PRIMARY KEY,
    sender TEXT NOT NULL,
    subject TEXT NOT NULL
);
