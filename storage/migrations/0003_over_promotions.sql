-- Version 3 of the database: the view rungs counts over-promotions.

DROP VIEW rungs;

-- Occupancy of each rung. Grants of a promotion (decision promote) are no entries: they move one
-- from paused to continued, unless it went on in place and is counted there already.
-- over_promoted: earned promotions (drains are none) beyond the share that the rung may promote,
-- which is entries * level / next level, rounded down; the next level after the last is max_step.
CREATE VIEW rungs AS
WITH occupancy AS (
  SELECT d.experiment_id, d.bracket, d.level,
         count(*) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')) AS entries,
         max(count(*) FILTER (WHERE d.decision = 'continue'),
             count(*) FILTER (WHERE d.decision = 'promote')) AS continued,
         count(*) FILTER (WHERE d.decision = 'stop') AS stopped,
         count(*) FILTER (WHERE d.decision = 'skipped') AS skipped,
         count(*) FILTER (WHERE d.decision = 'promote' AND d.reason <> 'drain') AS earned,
         CASE e.goal WHEN 'maximize'
           THEN max(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                       AND abs(d.value) <= 1.7976931348623157e308)
           ELSE min(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                       AND abs(d.value) <= 1.7976931348623157e308)
         END AS best_value
  FROM decisions AS d JOIN experiments AS e ON e.id = d.experiment_id
  GROUP BY d.experiment_id, d.bracket, d.level
)
SELECT o.experiment_id, o.bracket, o.level, o.entries, o.continued, o.stopped,
       o.entries - o.continued - o.stopped AS paused,
       o.skipped,
       CASE WHEN o.earned = 0 THEN 0
            ELSE max(0, o.earned - o.entries * o.level / coalesce(
                   (SELECT min(rung.value ->> '$.level')
                    FROM json_each(e.plan, '$.brackets[0].rungs') AS rung
                    WHERE rung.value ->> '$.level' > o.level),
                   e.max_step))
       END AS over_promoted,
       o.best_value
FROM occupancy AS o JOIN experiments AS e ON e.id = o.experiment_id
ORDER BY o.experiment_id, o.bracket, o.level;
