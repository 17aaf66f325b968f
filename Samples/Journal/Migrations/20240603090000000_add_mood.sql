ALTER TABLE entry ADD COLUMN mood TEXT CHECK (mood IN ('happy', 'sad'));
