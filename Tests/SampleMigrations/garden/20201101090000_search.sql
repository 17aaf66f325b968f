-- Full-text search over the plants, which stay where they are.
CREATE VIRTUAL TABLE plant_search USING fts5(name, variety, content='plant', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
INSERT INTO plant_search(plant_search) VALUES ('rebuild');

CREATE TRIGGER plant_search_insert AFTER INSERT ON plant BEGIN
    INSERT INTO plant_search(rowid, name, variety) VALUES (new.id, new.name, new.variety);
END;
CREATE TRIGGER plant_search_delete AFTER DELETE ON plant BEGIN
    INSERT INTO plant_search(plant_search, rowid, name, variety) VALUES ('delete', old.id, old.name, old.variety);
END;
CREATE TRIGGER plant_search_update AFTER UPDATE ON plant BEGIN
    INSERT INTO plant_search(plant_search, rowid, name, variety) VALUES ('delete', old.id, old.name, old.variety);
    INSERT INTO plant_search(rowid, name, variety) VALUES (new.id, new.name, new.variety);
END;

INSERT INTO plant (bed_id, name, variety) VALUES (4, 'Tomate', 'Bärenherz');
