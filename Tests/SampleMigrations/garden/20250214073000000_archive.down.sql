DROP VIEW bed_overview;
DROP INDEX plant_growing;
ALTER TABLE plant DROP COLUMN archived_at;
CREATE INDEX plant_unplanted ON plant (bed_id) WHERE planted_on IS NULL;
CREATE VIEW `bed_overview` AS SELECT `bed`.`name` AS `name`, count(`plant`.`id`) AS `plants` FROM `bed` LEFT JOIN `plant` ON `plant`.`bed_id` = `bed`.`id` GROUP BY `bed`.`id`;
