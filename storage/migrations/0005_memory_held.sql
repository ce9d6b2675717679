-- Version 5 of the database: the memory that an attempt holds, so that what a worker has free is known.

ALTER TABLE attempts ADD COLUMN memory_bytes INTEGER NOT NULL DEFAULT 0;  -- 0: none, or before version 5
