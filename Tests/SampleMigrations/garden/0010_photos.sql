CREATE TABLE photo (
    plant_id INTEGER NOT NULL REFERENCES plant ON DELETE CASCADE ON UPDATE CASCADE,
    number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (plant_id, number)
);
INSERT INTO photo SELECT id, 1, x'89504e470d0a1a0a' FROM plant WHERE name = 'Thyme';
INSERT INTO photo SELECT id, 2, x'' FROM plant WHERE name = 'Thyme';
INSERT INTO photo SELECT id, 1, zeroblob(16) FROM plant WHERE name = 'Potato';
