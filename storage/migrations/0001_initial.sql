-- The first schema. docs/database.md lists every column with its unit.
--
-- Units are in the names: *_us microseconds (times: UTC, since 1970), *_s seconds, *_bytes bytes.
-- States are lower-case words. NULL in metrics.value and decisions.value means NaN.
-- Migrations are append-only: a released one is never edited.

-- AUTOINCREMENT: an id is never given out twice, not even after its experiment was deleted.
CREATE TABLE experiments (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  name           TEXT    NOT NULL,
  state          TEXT    NOT NULL,  -- active, paused, stopping, completed, stopped or failed
  reason         TEXT    NOT NULL,
  document       TEXT    NOT NULL,
  metric         TEXT    NOT NULL,
  goal           TEXT    NOT NULL,  -- minimize or maximize
  best_by        TEXT    NOT NULL,  -- best, last or max_t
  seed           INTEGER NOT NULL,
  owner          TEXT    NOT NULL,
  priority       INTEGER NOT NULL,
  planned_trials INTEGER,
  max_step       INTEGER,
  plan           TEXT    NOT NULL,
  created_us     INTEGER NOT NULL,
  ended_us       INTEGER
) STRICT;
CREATE INDEX experiments_by_name ON experiments (name);

CREATE TABLE trials (
  experiment_id INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  state         TEXT    NOT NULL,  -- queued, running, paused, completed, stopped, failed, cancelled
  reason        TEXT    NOT NULL,
  params        TEXT    NOT NULL,
  bracket       INTEGER NOT NULL,
  best_value    REAL,
  best_step     INTEGER,
  last_step     INTEGER,           -- of the current curve: falls when an attempt supersedes
  furthest_step INTEGER,           -- the highest that any attempt stored: never falls
  metric_rows   INTEGER NOT NULL,  -- in the table metrics, superseded ones included
  failures      INTEGER NOT NULL,
  losses        INTEGER NOT NULL,
  created_us    INTEGER NOT NULL,
  ended_us      INTEGER,
  PRIMARY KEY (experiment_id, number)
) STRICT, WITHOUT ROWID;
-- Counts by state and lists of the active trials are asked for several times a second.
CREATE INDEX trials_by_state ON trials (experiment_id, state, number);

CREATE TABLE attempts (
  experiment_id INTEGER NOT NULL,
  trial_number  INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  state         TEXT    NOT NULL,  -- assigned, starting, running, stopping, exited or lost
  exit_cause    TEXT,              -- completed, failed, stopped, could_not_start, refused or lost
  exit_code     INTEGER,
  message       TEXT    NOT NULL,
  workers       TEXT    NOT NULL,
  owner         TEXT    NOT NULL,
  resume_step   INTEGER NOT NULL,
  processes     INTEGER NOT NULL,
  gpus          INTEGER NOT NULL,
  milli_cpus    INTEGER NOT NULL,
  started_us    INTEGER NOT NULL,
  ended_us      INTEGER,
  gpu_s         REAL    NOT NULL,
  cpu_s         REAL    NOT NULL,
  PRIMARY KEY (experiment_id, trial_number, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_held ON attempts (experiment_id, trial_number, attempt)
  WHERE state NOT IN ('exited', 'lost');

-- Clustered so that a trial's curve is one range of the file, in the order in which it is read; the
-- last step of a trial is one seek from the end of its range.
CREATE TABLE metrics (
  experiment_id INTEGER NOT NULL,
  trial_number  INTEGER NOT NULL,
  step          INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  name          TEXT    NOT NULL,
  value         REAL,                        -- NULL: NaN
  ranks         INTEGER NOT NULL,
  time_us       INTEGER NOT NULL,
  superseded    INTEGER NOT NULL DEFAULT 0,  -- 1: replaced by a later attempt
  PRIMARY KEY (experiment_id, trial_number, step, attempt, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
  experiment_id INTEGER NOT NULL,
  seq           INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  bracket       INTEGER NOT NULL,
  level         INTEGER NOT NULL,
  trial_number  INTEGER NOT NULL,
  step          INTEGER NOT NULL,
  value         REAL,              -- NULL: NaN
  n_before      INTEGER NOT NULL,
  entries       INTEGER NOT NULL,
  rank          INTEGER,
  cutoff        REAL,
  rule          TEXT    NOT NULL,
  decision      TEXT    NOT NULL,  -- continue, stop, pause, skipped or promote
  reason        TEXT    NOT NULL,
  time_us       INTEGER NOT NULL,
  PRIMARY KEY (experiment_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
  experiment_id INTEGER NOT NULL,
  trial_number  INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  step          INTEGER NOT NULL,
  path          TEXT    NOT NULL,
  place         TEXT    NOT NULL,  -- a worker's name, or shared
  bytes         INTEGER NOT NULL,
  state         TEXT    NOT NULL,  -- stored or deleted
  refs          INTEGER NOT NULL,
  time_us       INTEGER NOT NULL,
  PRIMARY KEY (experiment_id, trial_number, attempt, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE workers (
  name          TEXT    NOT NULL PRIMARY KEY,
  state         TEXT    NOT NULL,  -- connected, lost or gone
  host          TEXT    NOT NULL,
  version       TEXT    NOT NULL,
  milli_cpus    INTEGER NOT NULL,
  memory_bytes  INTEGER NOT NULL,
  gpus          INTEGER NOT NULL,
  gpu_names     TEXT    NOT NULL,
  first_seen_us INTEGER NOT NULL,
  last_seen_us  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id            INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL,  -- 0: not of an experiment
  trial_number  INTEGER,
  attempt       INTEGER,
  kind          TEXT    NOT NULL,
  message       TEXT    NOT NULL,
  time_us       INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_experiment ON events (experiment_id, trial_number);

CREATE TABLE requests (
  request_id TEXT    NOT NULL PRIMARY KEY,
  method     TEXT    NOT NULL,
  answer     TEXT    NOT NULL,
  time_us    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (time_us);

CREATE TABLE log_tails (
  experiment_id INTEGER NOT NULL,
  trial_number  INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  rank          INTEGER NOT NULL,
  text          TEXT    NOT NULL,
  PRIMARY KEY (experiment_id, trial_number, attempt, rank)
) STRICT, WITHOUT ROWID;

-- ---- views for people ----

-- Best first, by the experiment's goal; trials without a value come last.
CREATE VIEW leaderboard AS
SELECT t.experiment_id,
       e.name AS experiment,
       row_number() OVER (
         PARTITION BY t.experiment_id
         ORDER BY t.best_value IS NULL,
                  CASE e.goal WHEN 'maximize' THEN -t.best_value ELSE t.best_value END,
                  t.number
       ) AS place,
       t.number AS trial_number,
       e.metric,
       e.goal,
       e.best_by,
       t.best_value,
       t.best_step,
       t.last_step,
       t.state,
       t.params
FROM trials AS t JOIN experiments AS e ON e.id = t.experiment_id
ORDER BY t.experiment_id DESC, place;

-- Every metric's curve without what later attempts replaced.
CREATE VIEW learning_curves AS
SELECT m.experiment_id, m.trial_number, m.name, m.step, m.value,
       m.name = e.metric AS is_objective,
       m.attempt, m.ranks, m.time_us
FROM metrics AS m JOIN experiments AS e ON e.id = m.experiment_id
WHERE m.superseded = 0
ORDER BY m.experiment_id, m.trial_number, m.step, m.attempt, m.name;

-- Occupancy of each rung. Grants of a promotion (decision promote) are not entries.
CREATE VIEW rungs AS
SELECT d.experiment_id, d.bracket, d.level,
       count(*) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')) AS entries,
       count(*) FILTER (WHERE d.decision = 'continue') AS continued,
       count(*) FILTER (WHERE d.decision = 'stop')     AS stopped,
       count(*) FILTER (WHERE d.decision = 'pause')    AS paused,
       count(*) FILTER (WHERE d.decision = 'skipped')  AS skipped,
       CASE e.goal WHEN 'maximize'
         THEN max(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                     AND abs(d.value) <= 1.7976931348623157e308)
         ELSE min(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                     AND abs(d.value) <= 1.7976931348623157e308)
       END AS best_value
FROM decisions AS d JOIN experiments AS e ON e.id = d.experiment_id
GROUP BY d.experiment_id, d.bracket, d.level
ORDER BY d.experiment_id, d.bracket, d.level;

-- What each attempt used. steps: finished units beyond resume_step, superseded ones included;
-- gpu_s and cpu_s of an attempt that still holds its slots count up to now.
CREATE VIEW attempt_usage AS
SELECT a.experiment_id, a.trial_number, a.attempt, a.state,
       coalesce((SELECT m.step FROM metrics AS m
                 WHERE m.experiment_id = a.experiment_id AND m.trial_number = a.trial_number
                   AND m.step > a.resume_step AND m.attempt = a.attempt
                 ORDER BY m.step DESC LIMIT 1), a.resume_step) - a.resume_step AS steps,
       CASE WHEN a.state IN ('exited', 'lost') THEN a.gpu_s
            ELSE a.gpus * max(0, unixepoch('now') - a.started_us / 1e6) END AS gpu_s,
       CASE WHEN a.state IN ('exited', 'lost') THEN a.cpu_s
            ELSE a.milli_cpus / 1e3 * max(0, unixepoch('now') - a.started_us / 1e6) END AS cpu_s
FROM attempts AS a;

CREATE VIEW trial_summary AS
SELECT t.experiment_id, e.name AS experiment, t.number AS trial_number, t.state, t.reason,
       t.best_value, t.best_step, t.last_step,
       count(u.attempt) AS attempts, t.failures, t.losses,
       coalesce(sum(u.steps), 0) AS steps_spent,
       round(coalesce(sum(u.gpu_s), 0), 3) AS gpu_s,
       round(coalesce(sum(u.cpu_s), 0), 3) AS cpu_s,
       round(coalesce(t.ended_us / 1e6, unixepoch('now')) - t.created_us / 1e6, 3) AS elapsed_s,
       datetime(t.created_us / 1e6, 'unixepoch') AS created_utc,
       datetime(t.ended_us / 1e6, 'unixepoch') AS ended_utc,
       t.params
FROM trials AS t
JOIN experiments AS e ON e.id = t.experiment_id
LEFT JOIN attempt_usage AS u ON u.experiment_id = t.experiment_id AND u.trial_number = t.number
GROUP BY t.experiment_id, t.number
ORDER BY t.experiment_id, t.number;

CREATE VIEW experiment_summary AS
SELECT e.id AS experiment_id, e.name AS experiment, e.state, e.reason, e.metric, e.goal, e.best_by,
       b.best_value, b.trial_number AS best_trial,
       e.planned_trials,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id) AS trials,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'queued') AS queued,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'running') AS running,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'paused') AS paused,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'completed') AS completed,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'stopped') AS stopped,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'failed') AS failed,
       (SELECT count(*) FROM trials WHERE experiment_id = e.id AND state = 'cancelled') AS cancelled,
       (SELECT coalesce(sum(steps), 0) FROM attempt_usage
        WHERE experiment_id = e.id) AS steps_spent,
       (SELECT round(coalesce(sum(gpu_s), 0), 3) FROM attempt_usage
        WHERE experiment_id = e.id) AS gpu_s,
       (SELECT round(coalesce(sum(cpu_s), 0), 3) FROM attempt_usage
        WHERE experiment_id = e.id) AS cpu_s,
       round(coalesce(e.ended_us / 1e6, unixepoch('now')) - e.created_us / 1e6, 3) AS elapsed_s,
       datetime(e.created_us / 1e6, 'unixepoch') AS created_utc,
       datetime(e.ended_us / 1e6, 'unixepoch') AS ended_utc,
       e.owner, e.seed
FROM experiments AS e
LEFT JOIN leaderboard AS b
  ON b.experiment_id = e.id AND b.place = 1 AND b.best_value IS NOT NULL
ORDER BY e.id DESC;
