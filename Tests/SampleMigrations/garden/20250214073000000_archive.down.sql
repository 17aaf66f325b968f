DROP VIEW bed_overview;
DROP INDEX plant_growing;
ALTER TABLE plant DROP COLUMN archived_at;
CREATE INDEX plant_unsown ON plant (bed_id) WHERE sown_on IS NULL;
CREATE VIEW `bed_overview` AS SELECT `bed`.`name` AS `name`, count(`plant`.`id`) AS `plants` FROM `bed` LEFT JOIN `plant` ON `plant`.`bed_id` = `bed`.`id` GROUP BY `bed`.`id`;
