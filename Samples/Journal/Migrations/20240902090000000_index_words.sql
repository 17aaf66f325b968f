CREATE VIRTUAL TABLE entry_word USING fts5(text, tokenize='porter');

CREATE TRIGGER entry_word_inserted AFTER INSERT ON entry BEGIN
    INSERT INTO entry_word(rowid, text) VALUES (new.id, new.text);
END;

CREATE TRIGGER entry_word_deleted AFTER DELETE ON entry BEGIN
    DELETE FROM entry_word WHERE rowid = old.id;
END;

CREATE TRIGGER entry_word_updated AFTER UPDATE OF text ON entry BEGIN
    DELETE FROM entry_word WHERE rowid = old.id;
    INSERT INTO entry_word(rowid, text) VALUES (new.id, new.text);
END;
