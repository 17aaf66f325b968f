-- A parent of two tables is rebuilt as lang_altertable.html says, while rows refer to it that would go with it.
PRAGMA foreign_keys=OFF;
CREATE TABLE plant_new (
    id INTEGER PRIMARY KEY NOT NULL,
    bed_id INTEGER NOT NULL REFERENCES bed (id) ON DELETE CASCADE,
    species TEXT REFERENCES species (code) ON DELETE SET NULL,
    name TEXT NOT NULL CHECK (length(name) > 0),
    variety TEXT NOT NULL DEFAULT '',
    sown_on TEXT
);
INSERT INTO plant_new (id, bed_id, species, name, variety, sown_on)
    SELECT id, bed_id, species, CASE name WHEN '' THEN 'Plant ' || id ELSE name END, ifnull(variety, ''), sown_on
    FROM plant;
DROP TABLE plant;
ALTER TABLE plant_new RENAME TO plant;
CREATE INDEX plant_bed_id ON plant (bed_id);
PRAGMA foreign_key_check;
PRAGMA foreign_keys=ON;
