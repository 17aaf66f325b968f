-- The tables that the first release had.
CREATE TABLE bed (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    width REAL,
    length REAL
);
CREATE TABLE plant (
    id INTEGER PRIMARY KEY,
    bed_id INTEGER NOT NULL REFERENCES bed (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    variety TEXT,
    sown TEXT
);
CREATE INDEX plant_bed_id ON plant (bed_id);
CREATE TABLE watering (
    id INTEGER PRIMARY KEY,
    plant_id INTEGER NOT NULL REFERENCES plant (id) ON DELETE CASCADE,
    litres REAL NOT NULL CHECK (litres > 0),
    at INTEGER NOT NULL DEFAULT (0)
);
CREATE TABLE reminder (plant_id INTEGER, text TEXT, due TEXT);
