-- SQLite cannot add NOT NULL to a column: the table is rebuilt (lang_altertable.html, section 7).
-- entry_tag refers to it with ON DELETE CASCADE. Foreign keys are off while a migration runs, and
-- checked before it is committed, so dropping the old table takes no tag with it.
CREATE TABLE new_entry(
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    text TEXT NOT NULL
);

INSERT INTO new_entry(id, day, text)
SELECT id, coalesce(day, ''), coalesce(text, '') FROM entry;

DROP TABLE entry;
ALTER TABLE new_entry RENAME TO entry;
CREATE INDEX entry_day ON entry(day);
