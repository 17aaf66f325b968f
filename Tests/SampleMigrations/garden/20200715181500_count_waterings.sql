ALTER TABLE plant ADD COLUMN waterings INTEGER NOT NULL DEFAULT 0;
UPDATE plant SET waterings = (SELECT count(*) FROM watering WHERE watering.plant_id = plant.id);

CREATE TRIGGER watering_inserted AFTER INSERT ON watering BEGIN
    UPDATE plant SET waterings = waterings + CASE WHEN new.litres >= 0.1 THEN 1 ELSE 0 END
    WHERE id = new.plant_id; -- END;
END;
CREATE TRIGGER watering_deleted AFTER DELETE ON watering WHEN old.litres >= 0.1
BEGIN
    UPDATE plant SET waterings = waterings - 1 WHERE id = old.plant_id;
END;
CREATE TRIGGER plant_renamed BEFORE UPDATE OF name ON plant FOR EACH ROW WHEN new.name = ''
BEGIN
    SELECT RAISE(ABORT, 'a plant has a name; always');
END;
