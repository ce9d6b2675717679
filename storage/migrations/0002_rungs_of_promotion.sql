-- Version 2 of the database: the view rungs counts a paused trial that was promoted as continued.

DROP VIEW rungs;

-- Occupancy of each rung. Grants of a promotion (decision promote) are no entries: they move one
-- from paused to continued, unless it went on in place and is counted there already.
CREATE VIEW rungs AS
SELECT d.experiment_id, d.bracket, d.level,
       count(*) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')) AS entries,
       max(count(*) FILTER (WHERE d.decision = 'continue'),
           count(*) FILTER (WHERE d.decision = 'promote')) AS continued,
       count(*) FILTER (WHERE d.decision = 'stop')         AS stopped,
       count(*) FILTER (WHERE d.decision IN ('continue', 'pause'))
         - max(count(*) FILTER (WHERE d.decision = 'continue'),
               count(*) FILTER (WHERE d.decision = 'promote')) AS paused,
       count(*) FILTER (WHERE d.decision = 'skipped')      AS skipped,
       CASE e.goal WHEN 'maximize'
         THEN max(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                     AND abs(d.value) <= 1.7976931348623157e308)
         ELSE min(d.value) FILTER (WHERE d.decision IN ('continue', 'stop', 'pause')
                                     AND abs(d.value) <= 1.7976931348623157e308)
       END AS best_value
FROM decisions AS d JOIN experiments AS e ON e.id = d.experiment_id
GROUP BY d.experiment_id, d.bracket, d.level
ORDER BY d.experiment_id, d.bracket, d.level;
