CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, uses INTEGER NOT NULL DEFAULT 1);
CREATE TABLE harvest_tag (
    harvest_id INTEGER NOT NULL REFERENCES harvest (id) ON DELETE CASCADE,
    tag_id INTEGER NOT NULL REFERENCES tag (id) ON DELETE RESTRICT,
    PRIMARY KEY (harvest_id, tag_id)
) WITHOUT ROWID;

INSERT INTO tag (name)
    SELECT tags.value FROM harvest, json_each(harvest.details, '$.tags') AS tags WHERE true
    ORDER BY harvest.id, tags.key
    ON CONFLICT (name) DO UPDATE SET uses = uses + 1;
INSERT INTO harvest_tag
    SELECT harvest.id, tag.id FROM harvest, json_each(harvest.details, '$.tags') AS tags JOIN tag ON tag.name = tags.value
    GROUP BY harvest.id, tag.id;
UPDATE harvest SET details = json_remove(details, '$.tags');
