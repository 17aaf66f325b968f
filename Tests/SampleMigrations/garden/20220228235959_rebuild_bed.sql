PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_bed` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`width_cm` integer DEFAULT 0 NOT NULL,
	`length_cm` integer DEFAULT 0 NOT NULL,
	`area` integer GENERATED ALWAYS AS (`width_cm` * `length_cm`) STORED
);
--> statement-breakpoint
DROP VIEW `bed_overview`;--> statement-breakpoint
INSERT INTO `__new_bed`("id", "name", "width_cm", "length_cm") SELECT "id", "name", CAST(ifnull("width", 0) * 100 AS INTEGER), CAST(ifnull("length", 0) * 100 AS INTEGER) FROM `bed`;--> statement-breakpoint
DROP TABLE `bed`;--> statement-breakpoint
ALTER TABLE `__new_bed` RENAME TO `bed`;--> statement-breakpoint
CREATE UNIQUE INDEX `bed_name_unique` ON `bed` (`name`);--> statement-breakpoint
CREATE VIEW `bed_overview` AS SELECT `bed`.`name` AS `name`, count(`plant`.`id`) AS `plants` FROM `bed` LEFT JOIN `plant` ON `plant`.`bed_id` = `bed`.`id` GROUP BY `bed`.`id`;
