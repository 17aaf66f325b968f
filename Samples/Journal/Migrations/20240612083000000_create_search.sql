CREATE VIRTUAL TABLE entry_search USING fts5(text, content='entry', content_rowid='id');

INSERT INTO entry_search(entry_search) VALUES ('rebuild');

CREATE TRIGGER entry_inserted AFTER INSERT ON entry BEGIN
    INSERT INTO entry_search(rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER entry_deleted AFTER DELETE ON entry BEGIN
    INSERT INTO entry_search(entry_search, rowid, text) VALUES ('delete', old.id, old.text);
END;

CREATE TRIGGER entry_updated AFTER UPDATE OF text ON entry BEGIN
    INSERT INTO entry_search(entry_search, rowid, text) VALUES ('delete', old.id, old.text);
    INSERT INTO entry_search(rowid, text) VALUES (new.id, new.text);
END;
