"""Experiments from submit to the end, through the command line and the database."""

from __future__ import annotations

import json
import subprocess

from conftest import BIN, Service, document, eventually

SPACE_OF_FAULTS = ["exit_1", "killed", "garbage", "silent", "nan", "none"]


def test_a_random_search_runs_to_the_end_and_is_in_the_database(service: Service) -> None:
    experiment = service.submit(document("curve.py", trials=4))
    assert service.wait(experiment) == "completed"

    trials = service.query(
        "select * from trials where experiment_id = ? order by number", experiment
    )
    assert [row["number"] for row in trials] == [0, 1, 2, 3]
    assert {row["state"] for row in trials} == {"completed"}
    metrics = service.query("select * from metrics where experiment_id = ?", experiment)
    assert len(metrics) == 4 * 10
    for trial in trials:
        lr = json.loads(trial["params"])["lr"]
        assert 1e-4 <= lr <= 1e-1
        assert trial["best_value"] == (1 - lr) * (1 - 0.5**10)
        assert trial["best_step"] == 10
    leaders = service.query("select * from leaderboard where experiment_id = ?", experiment)
    assert [row["best_value"] for row in leaders] == sorted(
        (row["best_value"] for row in trials), reverse=True
    )


def test_the_same_seed_gives_the_same_configurations(service: Service) -> None:
    first, second = (service.submit(document("curve.py", trials=3)) for _ in range(2))
    service.wait(first)
    service.wait(second)
    params = "select params from trials where experiment_id = ? order by number"
    assert [r["params"] for r in service.query(params, first)] == [
        r["params"] for r in service.query(params, second)
    ]


def promotion_document(**env: str) -> dict:
    return document(
        "checkpointed.py",
        trials=9,
        scheduler={"asha": {"max_t": 9, "grace_period": 1, "reduction_factor": 3}},
        trial_options={"resumable": True, "env": env},
    )


def expect_promotion_by_the_rules(service: Service, experiment: int) -> None:
    """Of nine trials under max_t 9, levels 1 and 3, each resumed from the right checkpoint."""
    trials = service.query("select * from trials where experiment_id = ?", experiment)
    states = {row["number"]: (row["state"], row["reason"]) for row in trials}
    assert set(states.values()) == {("completed", "max_t"), ("stopped", "not_promoted")}

    decisions = service.query("select * from decisions where experiment_id = ?", experiment)
    promoted = {row["trial_number"] for row in decisions if row["decision"] == "promote"}
    entries = [
        row for row in decisions if row["level"] == 1 and row["decision"] in ("continue", "pause")
    ]
    assert sorted(row["trial_number"] for row in entries) == list(range(9))
    assert {number for number, state in states.items() if state[0] == "completed"} <= promoted
    # 9 div 3: the best three of the level were promoted, whenever they came.
    best = sorted((-row["value"], row["trial_number"]) for row in entries)
    assert {number for _, number in best[:3]} <= promoted

    assert service.json("replay", experiment)["equal"], "the rule takes the stored decisions again"

    lr = {row["number"]: json.loads(row["params"])["lr"] for row in trials}
    for row in service.query("select * from learning_curves where experiment_id = ?", experiment):
        assert row["value"] == (1 - lr[row["trial_number"]]) * (1 - 0.5 ** row["step"])


def test_promotion_pauses_trials_and_resumes_them_from_their_checkpoints(service: Service) -> None:
    experiment = service.submit(promotion_document())
    assert service.wait(experiment) == "completed"
    expect_promotion_by_the_rules(service, experiment)
    resumed = service.query(
        "select * from attempts where experiment_id = ? and attempt > 0", experiment
    )
    assert {row["resume_step"] for row in resumed} <= {1, 3}
    occupancy = service.query("select * from rungs where experiment_id = ?", experiment)[0]
    assert (occupancy["entries"], occupancy["stopped"]) == (9, 0)
    assert occupancy["continued"] + occupancy["paused"] == 9
    assert occupancy["continued"] >= 3


def test_promotion_goes_on_through_kills_of_either_daemon(service: Service) -> None:
    experiment = service.submit(promotion_document(RUNG_E2E_PAUSE="0.2"))

    def entries() -> int:
        rung = service.query("select entries from rungs where experiment_id = ?", experiment)
        return rung[0]["entries"] if rung else 0

    for count, program in ((2, "scheduler"), (4, "worker"), (6, "scheduler"), (8, "worker")):
        eventually(f"{count} trials at level 1", lambda: entries() >= count)
        service.kill(program)
        service.up()
    assert service.wait(experiment) == "completed"
    expect_promotion_by_the_rules(service, experiment)
    failed = service.query("select sum(failures) n from trials where experiment_id = ?", experiment)
    assert failed[0]["n"] == 0


def test_asha_stops_by_the_quantile_of_earlier_values(service: Service) -> None:
    experiment = service.submit(
        document(
            "curve.py",
            trials=9,
            scheduler={"asha": {"max_t": 9, "grace_period": 1, "reduction_factor": 3}},
        )
    )
    assert service.wait(experiment) == "completed"
    decisions = service.query(
        "select * from decisions where experiment_id = ? order by seq", experiment
    )
    assert [row["seq"] for row in decisions] == list(range(1, len(decisions) + 1))
    seen: dict = {}
    for row in decisions:
        earlier = seen.setdefault(row["level"], [])
        assert row["n_before"] == len(earlier)
        if not earlier:
            assert (row["decision"], row["reason"], row["cutoff"]) == (
                "continue",
                "no_rivals",
                None,
            )
        else:
            values = sorted(earlier)
            position = (len(values) - 1) * ((1 - 1 / 3) * 100 / 100)
            low = int(position)
            share = position - low
            a, b = values[low], values[min(low + 1, len(values) - 1)]
            cutoff = a + (b - a) * share if share < 0.5 else b - (b - a) * (1 - share)
            assert row["cutoff"] == cutoff
            assert row["decision"] == ("stop" if row["value"] < cutoff else "continue")
        earlier.append(row["value"])
    stopped = {row["trial_number"] for row in decisions if row["decision"] == "stop"}
    states = service.query(
        "select number, state, last_step from trials where experiment_id = ?", experiment
    )
    for trial in states:
        assert trial["state"] == ("stopped" if trial["number"] in stopped else "completed")
        if trial["number"] not in stopped:
            assert trial["last_step"] == 9
    assert stopped, "nine different trials at factor 3 cannot all go on"

    replayed = service.json("replay", experiment)
    assert (replayed["equal"], replayed["decisions"]) == (True, len(decisions))
    later = {"asha": {"max_t": 9, "grace_period": 3, "reduction_factor": 3}}
    seen_back = service.json("replay", experiment, "--scheduler", json.dumps(later))
    # Whoever was stopped at level 1 has no curve up to the first level of the other scheduler.
    at_1 = [row for row in decisions if (row["decision"], row["level"]) == ("stop", 1)]
    assert seen_back["curves_too_short"] == len(at_1)
    assert seen_back["recorded_steps"] == sum(trial["last_step"] for trial in states)


def test_a_trial_that_misbehaves_harms_no_other(service: Service) -> None:
    experiment = service.submit(
        document(
            "misbehave.py",
            space={"fault": {"choice": SPACE_OF_FAULTS}},
            searcher={"grid": {"order": "listed"}},
            scheduler={"asha": {"max_t": 5, "grace_period": 2, "reduction_factor": 3}},
        )
    )
    assert service.wait(experiment) == "completed"
    rows = service.query("select * from trials where experiment_id = ?", experiment)
    by_fault = {json.loads(row["params"])["fault"]: row for row in rows}
    assert by_fault["exit_1"]["state"] == "failed"
    assert by_fault["killed"]["state"] == "failed"
    assert by_fault["garbage"]["state"] == "completed"
    assert by_fault["garbage"]["best_value"] == 0.2
    assert by_fault["silent"]["state"] == "completed"
    assert by_fault["silent"]["best_value"] is None
    assert (by_fault["nan"]["state"], by_fault["nan"]["reason"]) == ("stopped", "non_finite")
    assert by_fault["nan"]["best_value"] is None
    assert by_fault["none"]["state"] == "completed"
    codes = {
        row["trial_number"]: row["exit_code"]
        for row in service.query("select * from attempts where experiment_id = ?", experiment)
    }
    assert codes[by_fault["exit_1"]["number"]] == 1
    assert codes[by_fault["killed"]["number"]] == 128 + 9
    tails = service.query("select * from log_tails where experiment_id = ?", experiment)
    assert any("about to fail" in row["text"] for row in tails)


def test_failures_are_retried_as_often_as_the_document_says(service: Service) -> None:
    experiment = service.submit(
        document(
            "misbehave.py", space={"fault": "exit_1"}, trials=1, trial_options={"max_failures": 2}
        )
    )
    assert service.wait(experiment) == "failed"
    trial = service.query("select * from trials where experiment_id = ?", experiment)[0]
    assert (trial["state"], trial["failures"]) == ("failed", 3)
    attempts = service.query(
        "select attempt, exit_cause from attempts where experiment_id = ? order by attempt",
        experiment,
    )
    assert [(row["attempt"], row["exit_cause"]) for row in attempts] == [
        (0, "failed"),
        (1, "failed"),
        (2, "failed"),
    ]


def test_five_failures_before_any_report_pause_the_experiment(service: Service) -> None:
    file = service.home / "broken.json"
    file.write_text(json.dumps(document(["false"], trials=20)))
    result = service.rung("run", file, status=1)
    rows = service.query("select state, reason from experiments")
    assert [tuple(row) for row in rows] == [("paused", "nothing_works")]
    # The fifth failure pauses; with two slots one more trial may be running then.
    assert service.query("select count(*) n from trials where state = 'failed'")[0]["n"] in (5, 6)
    assert "nothing_works" in result.stderr + result.stdout


def test_a_gang_reports_one_value_by_reduction(service: Service) -> None:
    experiment = service.submit(
        document("gang.py", trials=1, trial_options={"processes": 2, "reduce": "mean"})
    )
    assert service.wait(experiment) == "completed"
    rows = service.query(
        "select step, value, ranks from metrics where experiment_id = ? order by step", experiment
    )
    # rank 0 says step with weight 1, rank 1 step + 1 with weight 3: (s + 3 (s + 1)) / 4 = s + 0.75
    assert [tuple(row) for row in rows] == [(1, 1.75, 2), (2, 2.75, 2), (3, 3.75, 2)]


def test_a_failed_rank_ends_its_peers(service: Service) -> None:
    experiment = service.submit(
        document(
            "gang.py",
            trials=1,
            trial_options={
                "processes": 2,
                "env": {"RUNG_E2E_FAIL_RANK": "1"},
                "failure_grace": "1s",
            },
        )
    )
    assert service.wait(experiment) == "failed"
    attempt = service.query(
        "select exit_cause, exit_code from attempts where experiment_id = ?", experiment
    )[0]
    assert tuple(attempt) == ("failed", 7)


def test_what_no_worker_can_run_stays_queued_and_says_why(service: Service) -> None:
    wanting = service.submit(
        document("curve.py", trials=1, trial_options={"per_process": {"gpus": 64}})
    )
    other = service.submit(document("curve.py", trials=2))
    assert service.wait(other) == "completed"
    trial = service.query("select state, reason from trials where experiment_id = ?", wanting)[0]
    assert trial["state"] == "queued"
    assert "64" in trial["reason"] and "GPU" in trial["reason"]
    assert "64" in service.rung("why", f"{wanting}.0").stdout
    service.rung("stop", wanting)
    assert service.wait(wanting) == "stopped"


def test_stop_ends_processes_that_ignore_sigterm(service: Service) -> None:
    experiment = service.submit(
        document(
            "misbehave.py",
            space={"fault": "ignores_sigterm"},
            trials=1,
            trial_options={"grace": "1s"},
        )
    )
    eventually(
        "the first report",
        lambda: service.query("select 1 from metrics where experiment_id = ?", experiment),
    )
    service.rung("stop", experiment)
    assert service.wait(experiment) == "stopped"
    trial = service.query("select state from trials where experiment_id = ?", experiment)[0]
    assert trial["state"] == "cancelled"


def test_slots_are_never_oversubscribed(service: Service) -> None:
    first, second = (
        service.submit(
            document("curve.py", trials=6, trial_options={"env": {"RUNG_E2E_PAUSE": "0.02"}})
        )
        for _ in range(2)
    )
    service.wait(first)
    service.wait(second)
    spans = service.query("select started_us, ended_us from attempts")
    starts = [(row["started_us"], 1) for row in spans] + [(row["ended_us"], -1) for row in spans]
    running = 0
    for _, change in sorted(starts):
        running += change
        assert running <= service.cpus


def test_logs_of_a_rank_are_shown(service: Service) -> None:
    experiment = service.submit(document("curve.py", trials=1))
    service.wait(experiment)
    assert (
        f"trial {experiment}.0 begins at step 0" in service.rung("logs", f"{experiment}.0").stdout
    )


def test_a_followed_log_waits_for_its_trial(service: Service) -> None:
    busy = service.submit(
        document("curve.py", trials=2, trial_options={"env": {"RUNG_E2E_PAUSE": "0.2"}})
    )
    waiting = service.submit(document("curve.py", trials=1))
    never = service.submit(
        document("curve.py", trials=1, trial_options={"per_process": {"gpus": 64}})
    )
    followers = [
        subprocess.Popen(
            [str(BIN / "rung"), "logs", f"{experiment}.0", "-f"],
            env=service.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for experiment in (waiting, never)
    ]
    told = [str(follower.stderr.readline()) for follower in followers if follower.stderr]
    assert all("waiting until it starts" in line for line in told), told
    assert service.wait(busy) == service.wait(waiting) == "completed"
    out, _ = followers[0].communicate(timeout=60)
    assert (followers[0].returncode, out) == (0, f"trial {waiting}.0 begins at step 0\n")
    service.rung("stop", never)
    _, err = followers[1].communicate(timeout=60)
    assert followers[1].returncode == 1 and "has not been started" in err
