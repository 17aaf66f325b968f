-- What a user of the garden writes into the tables of version 10, before the app is updated.
INSERT INTO bed (name, width, length) VALUES ('Compost', 1, 1), ('Balcony', NULL, NULL);
INSERT INTO plant (id, bed_id, name, variety, sown) VALUES
    (20, (SELECT id FROM bed WHERE name = 'Balcony'), 'Chives', NULL, NULL),
    (21, (SELECT id FROM bed WHERE name = 'Compost'), 'Pumpkin', 'Hokkaido', '2019-05-05'),
    (22, 2, 'Carrot', 'Purple; "Haze"', '2019-03-30');
INSERT INTO watering (plant_id, litres, at) VALUES
    (1, 0.5, 100), (1, 0.05, 100), (1, 1.25, 200), (20, 2, 150), (21, 10, 160), (22, 0.333, 170);
INSERT INTO photo VALUES (20, 1, x'00ff00'), (21, 1, x'0a0d');
INSERT INTO reminder VALUES (1, 'Cut back', NULL);
DELETE FROM bed WHERE name LIKE 'Grandma%';
