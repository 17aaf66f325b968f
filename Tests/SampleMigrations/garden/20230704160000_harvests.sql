CREATE TABLE harvest (
    id INTEGER PRIMARY KEY,
    plant_id INTEGER REFERENCES plant (id) ON DELETE SET NULL,
    grams INTEGER NOT NULL CHECK (grams BETWEEN 0 AND 100000),
    kilos REAL AS (grams / 1000.0) VIRTUAL,
    details TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(details)),
    day TEXT NOT NULL DEFAULT '2023-07-04'
) STRICT;
INSERT INTO harvest (plant_id, grams, details)
    SELECT id, 120, '{"tags": ["pesto", "First"]}' FROM plant WHERE name = 'Basil';
INSERT INTO harvest (plant_id, grams, details)
    SELECT id, 30, json_object('tags', json_array('try', 'first')) FROM plant WHERE variety = 'Nantes';
INSERT INTO harvest (plant_id, grams) VALUES (NULL, 2500);
