CREATE TABLE old_watering (
    id INTEGER PRIMARY KEY,
    plant_id INTEGER NOT NULL REFERENCES plant (id) ON DELETE CASCADE,
    litres REAL NOT NULL CHECK (litres > 0),
    at INTEGER NOT NULL DEFAULT (0)
, note TEXT NOT NULL DEFAULT '');
INSERT INTO old_watering (plant_id, litres, at, note)
    SELECT plant_id, millilitres / 1000.0, at, note FROM watering ORDER BY plant_id, at, number;
DROP VIEW last_watering;
DROP TABLE watering;
ALTER TABLE old_watering RENAME TO watering;
CREATE INDEX watering_recent ON watering (plant_id, at DESC);
CREATE TRIGGER watering_inserted AFTER INSERT ON watering BEGIN
    UPDATE plant SET waterings = waterings + CASE WHEN new.litres >= 0.1 THEN 1 ELSE 0 END
    WHERE id = new.plant_id; -- END;
END;
CREATE TRIGGER watering_deleted AFTER DELETE ON watering WHEN old.litres >= 0.1
BEGIN
    UPDATE plant SET waterings = waterings - 1 WHERE id = old.plant_id;
END;
CREATE VIEW last_watering AS
    SELECT plant_id, at, row_number() OVER (PARTITION BY plant_id ORDER BY at DESC) AS rank FROM watering;
