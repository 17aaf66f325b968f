DROP TRIGGER entry_inserted;
DROP TRIGGER entry_deleted;
DROP TRIGGER entry_updated;
-- allow: drop-table
DROP TABLE entry_search;
