-- Rebuilds a child with triggers and an index, and gives it a key of two columns.
CREATE TABLE new_watering (
    plant_id INTEGER NOT NULL REFERENCES plant (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    number INTEGER NOT NULL,
    millilitres INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (plant_id, at, number)
);
INSERT INTO new_watering
    SELECT plant_id, at, row_number() OVER (PARTITION BY plant_id, at ORDER BY id), CAST(round(litres * 1000) AS INTEGER), note
    FROM watering;
DROP VIEW last_watering;
DROP TABLE watering;
ALTER TABLE new_watering RENAME TO watering;
CREATE INDEX watering_recent ON watering (plant_id, at DESC);
CREATE TRIGGER watering_inserted AFTER INSERT ON watering BEGIN
    UPDATE plant SET waterings = waterings + (new.millilitres >= 100) WHERE id = new.plant_id;
END;
CREATE TRIGGER watering_deleted AFTER DELETE ON watering WHEN old.millilitres >= 100 BEGIN
    UPDATE plant SET waterings = waterings - 1 WHERE id = old.plant_id;
END;
CREATE VIEW last_watering AS SELECT plant_id, max(at) AS at FROM watering GROUP BY plant_id;
