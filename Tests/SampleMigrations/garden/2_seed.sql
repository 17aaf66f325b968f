-- What a new garden begins with.
INSERT INTO bed (name, width, length) VALUES ('Herbs', 1.2, 3), ('Roots; tubers', 1.2, 6.5);
INSERT INTO bed (name) VALUES ('Grandma''s "corner"'), ('Gewächshaus');

INSERT INTO plant (bed_id, name, variety, sown) VALUES
    ((SELECT id FROM bed WHERE name = 'Herbs'), 'Thyme', NULL, '2018-04-01'),
    ((SELECT id FROM bed WHERE name = 'Herbs'), 'Basil', 'Genovese', '2018-05-20'), -- needs warmth;
    ((SELECT id FROM bed WHERE name LIKE 'Roots;%'), 'Carrot', 'Nantes', '2018-03-15'),
    ((SELECT id FROM bed WHERE name LIKE 'Roots;%'), 'Potato', 'Linda', '2018-04-10');
INSERT INTO reminder SELECT id, 'Thin out /* by hand */', '2018-05-01' FROM plant WHERE name = 'Carrot';
