-- Add migration script here
ALTER TABLE plant ADD COLUMN species TEXT REFERENCES species (code);
ALTER TABLE plant RENAME COLUMN sown TO sown_on;
ALTER TABLE watering ADD COLUMN note TEXT NOT NULL DEFAULT '';
UPDATE plant SET species = CASE name
    WHEN 'Thyme' THEN 'lam.thy' WHEN 'Basil' THEN 'lam.oci' WHEN 'Carrot' THEN 'api.dau' WHEN 'Potato' THEN 'sol.sol'
END;
