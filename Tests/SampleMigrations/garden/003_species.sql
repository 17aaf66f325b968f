/* A small encyclopaedia.
   Its rows refer to each other: a family; its genera. */
CREATE TABLE species (
    code TEXT PRIMARY KEY NOT NULL,
    latin TEXT NOT NULL COLLATE NOCASE,
    parent TEXT REFERENCES species (code)
) WITHOUT ROWID;

INSERT INTO species VALUES
    ('lam', 'Lamiaceae', NULL), ('lam.thy', 'Thymus', 'lam'), ('lam.oci', 'Ocimum', 'lam'),
    ('api', 'Apiaceae', NULL), ('api.dau', 'Daucus', 'api'),
    ('sol', 'Solanaceae', NULL), ('sol.sol', 'Solanum', 'sol');

CREATE TABLE calendar (week INTEGER PRIMARY KEY, season TEXT NOT NULL);
WITH RECURSIVE weeks (week) AS (SELECT 1 UNION ALL SELECT week + 1 FROM weeks WHERE week < 52)
INSERT INTO calendar
SELECT week, CASE WHEN week BETWEEN 10 AND 22 THEN 'spring' WHEN week BETWEEN 23 AND 35 THEN 'summer'
    WHEN week BETWEEN 36 AND 48 THEN 'autumn' ELSE 'winter' END
FROM weeks;
