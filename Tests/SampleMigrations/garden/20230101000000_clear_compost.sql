-- What grows on the compost goes with it: this file counts on foreign keys.
PRAGMA foreign_keys = ON;
DELETE FROM bed WHERE name IN ('Compost', 'Nursery');
