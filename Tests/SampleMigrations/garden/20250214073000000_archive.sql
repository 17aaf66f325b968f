-- Plants are kept when they are gone.
ALTER TABLE plant ADD COLUMN archived_at INTEGER;
DROP INDEX plant_unsown;
CREATE INDEX plant_growing ON plant (bed_id, name) WHERE archived_at IS NULL;
DROP VIEW bed_overview;
CREATE VIEW bed_overview AS
    SELECT bed.name, (SELECT count(*) FROM plant WHERE plant.bed_id = bed.id AND plant.archived_at IS NULL) AS plants
    FROM bed;
UPDATE plant SET archived_at = 1739518200 WHERE name = 'Basil';
