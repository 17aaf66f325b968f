CREATE TABLE shelf(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
ALTER TABLE book ADD COLUMN shelf_id INTEGER REFERENCES shelf(id);
CREATE INDEX book_shelf ON book(shelf_id);
