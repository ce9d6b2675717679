-- Version 4 of the database: the lease of an ask/tell attempt, so that a restart keeps its length.

ALTER TABLE attempts ADD COLUMN lease_s REAL;  -- NULL: a worker runs it, or written before version 4
