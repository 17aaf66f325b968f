CREATE INDEX watering_recent ON watering (plant_id, at DESC);
CREATE INDEX plant_unsown ON plant (bed_id) WHERE sown_on IS NULL;
CREATE INDEX plant_lower_name ON plant (lower(name), variety COLLATE NOCASE);
CREATE UNIQUE INDEX bed_area ON bed (name, width * length) WHERE width > 0 AND length > 0;
ANALYZE;
