ALTER TABLE message ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_sender ON message(sender);
