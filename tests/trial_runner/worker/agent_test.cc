#include "trial_runner/worker/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "tests/trial_runner/worker/fake_scheduler.h"

namespace rung::worker {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kPatienceMs = 60'000;

std::string FileText(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool IsReport(const v1::WorkerMessage& message) { return message.has_report(); }

/// A worker's agent on its thread, a scheduler played by the test, and trials that are shell
/// scripts. Scripts talk to the test by the FIFO `fifo` in their folder, it to them by `in`.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    spdlog::set_level(spdlog::level::off);
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-agent-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    fifo_ = MakeFifo("fifo");
    in_ = MakeFifo("in");
    scheduler_.emplace(folder_ + "/scheduler.sock");
    limits_.report_wait = std::chrono::milliseconds(50);
  }
  ~AgentTest() override {
    End();
    scheduler_.reset();
    close(fifo_);
    close(in_);
    std::filesystem::remove_all(folder_);
  }

  void Begin() {
    scheduler_->Start([this](const v1::WorkerMessage& m) { return Reply(m); });
    home_.emplace(WorkerHome::Open(folder_ + "/home").value());
    agent_.emplace(
        AgentConfig{.name = "w1",
                    .server = ParseServerAddress("unix:" + folder_ + "/scheduler.sock").value(),
                    .shim_path = RUNG_BINARY_DIR "/bin/rung-shim",
                    .outer_environment = {"PATH=/usr/bin:/bin", "SLURM_JOB_ID=7"},
                    .limits = limits_},
        *home_,
        Inventory{.total = {.milli_cpus = 4000, .memory_bytes = 0, .gpus = 2},
                  .gpus = {{.uuid = "GPU-a"}, {.uuid = "GPU-b"}},
                  .notes = {}});
    thread_ = std::thread([this] { ended_ = agent_->Run(); });
    scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_hello(); });
  }
  void End() {
    if (!agent_) return;
    agent_->Shutdown();
    if (thread_.joinable()) thread_.join();
    agent_.reset();
    home_.reset();
  }

  /// Welcomes, keeps what is held if so told, acknowledges, and decides by `decide_`.
  std::vector<v1::SchedulerMessage> Reply(const v1::WorkerMessage& message) {
    v1::SchedulerMessage reply;
    if (message.has_hello()) {
      reply.mutable_welcome()->set_heartbeat_ms(100);
      for (const v1::HeldAttempt& held : message.hello().held()) {
        if (keep_held_) *reply.mutable_welcome()->add_keep() = held.attempt();
      }
    } else if (message.has_report() && answers_) {
      v1::AnswerReport& answer = *reply.mutable_answer_report();
      *answer.mutable_attempt() = message.report().attempt();
      answer.set_step(message.report().step());
      answer.add_report_ids(message.report().report_id());
      answer.set_decision(message.report().step() >= stop_at_ ? v1::DECISION_STOP
                                                              : v1::DECISION_CONTINUE);
      answer.set_grace_ms(grace_ms_);
    } else if (message.has_checkpoint()) {
      v1::AcknowledgeCheckpoint& ack = *reply.mutable_acknowledge_checkpoint();
      ack.set_report_id(message.checkpoint().report_id());
      *ack.mutable_attempt() = message.checkpoint().attempt();
    } else if (message.has_attempt_exited() && acknowledges_exits_) {
      *reply.mutable_acknowledge_exit()->mutable_attempt() = message.attempt_exited().attempt();
    } else {
      return {};
    }
    return {reply};
  }

  static v1::StartAttempt Start(int32_t trial, const std::string& script, int32_t processes = 1) {
    v1::StartAttempt start;
    start.mutable_attempt()->set_experiment_id(1);
    start.mutable_attempt()->set_trial_number(trial);
    start.set_experiment_name("test");
    start.set_params_json(R"({"lr":0.001,"name":"a b"})");
    v1::TrialTemplate& trial_template = *start.mutable_trial();
    // The script goes by the environment: its braces are no placeholders.
    for (const char* argument : {"sh", "-c", "eval \"$script\"", "sh", "{lr}", "{name}"}) {
      trial_template.add_command(argument);
    }
    v1::EnvironmentVariable& variable = *trial_template.add_env();
    variable.set_name("script");
    variable.set_value(script);
    trial_template.set_processes(processes);
    trial_template.mutable_per_process()->set_milli_cpus(1000);
    trial_template.set_reduce(v1::REDUCE_RANK0);
    trial_template.set_grace_ms(60'000);
    trial_template.set_failure_grace_ms(60'000);
    return start;
  }
  void Send(v1::StartAttempt start) {
    if (start.trial().working_dir().empty()) start.mutable_trial()->set_working_dir(folder_);
    v1::EnvironmentVariable& client = *start.mutable_trial()->add_env();
    client.set_name("client");
    client.set_value(RUNG_BINARY_DIR "/bin/report_client");
    v1::SchedulerMessage message;
    *message.mutable_start_attempt() = std::move(start);
    scheduler_->Send(message);
  }
  void Stop(int32_t trial, bool at_once, int64_t grace_ms) {
    v1::SchedulerMessage message;
    v1::StopAttempt& stop = *message.mutable_stop_attempt();
    stop.mutable_attempt()->set_experiment_id(1);
    stop.mutable_attempt()->set_trial_number(trial);
    stop.set_at_once(at_once);
    stop.set_grace_ms(grace_ms);
    scheduler_->Send(message);
  }
  void Fetch(uint64_t id, int32_t trial, bool follow, bool cancel = false) {
    v1::SchedulerMessage message;
    v1::FetchLog& fetch = *message.mutable_fetch_log();
    fetch.set_fetch_id(id);
    fetch.mutable_attempt()->set_experiment_id(1);
    fetch.mutable_attempt()->set_trial_number(trial);
    fetch.set_follow(follow);
    fetch.set_cancel(cancel);
    scheduler_->Send(message);
  }

  std::string Log(int32_t trial, const std::string& name) const {
    return FileText(folder_ + "/home/logs/1." + std::to_string(trial) + ".0/" + name);
  }
  /// Both ends open, so that no end waits for the other.
  int MakeFifo(const std::string& name) const {
    const std::string path = folder_ + "/" + name;
    mkfifo(path.c_str(), 0600);
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  /// A line that a script wrote to the FIFO.
  std::string FifoLine() {
    std::string line;
    pollfd p{.fd = fifo_, .events = POLLIN, .revents = 0};
    for (char c = 0; poll(&p, 1, kPatienceMs) == 1 && read(fifo_, &c, 1) == 1 && c != '\n';) {
      line += c;
    }
    return line;
  }
  void TellScript(const std::string& line) {
    const std::string text = line + "\n";
    ASSERT_EQ(write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Opened while the process lives; readable when it is dead.
  static int PidFd(const std::string& pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, std::stol(pid), 0));
  }
  static bool Ends(int pid_fd) {
    pollfd p{.fd = pid_fd, .events = POLLIN, .revents = 0};
    const bool ended = poll(&p, 1, kPatienceMs) == 1;
    close(pid_fd);
    return ended;
  }

  std::string folder_;
  int fifo_ = -1;
  int in_ = -1;
  Limits limits_;
  std::atomic<bool> answers_ = true;
  std::atomic<bool> keep_held_ = true;
  std::atomic<bool> acknowledges_exits_ = true;
  std::atomic<int64_t> stop_at_ = 1'000'000;
  int64_t grace_ms_ = 60'000;
  std::optional<FakeScheduler> scheduler_;
  std::optional<WorkerHome> home_;
  std::optional<Agent> agent_;
  std::thread thread_;
  absl::Status ended_;  ///< what Run returned
};

TEST_F(AgentTest, HelloSaysWhatTheMachineOffers) {
  Begin();
  const v1::Hello hello =
      scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_hello(); }).hello();
  EXPECT_EQ(hello.name(), "w1");
  EXPECT_FALSE(hello.incarnation().empty());
  EXPECT_EQ(hello.host(), "127.0.0.1");
  EXPECT_EQ(hello.total().milli_cpus(), 4000);
  EXPECT_EQ(hello.total().gpus(), 2);
  EXPECT_THAT(hello.held(), SizeIs(0));
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_heartbeat(); });
}

TEST_F(AgentTest, AWorkerThatIsNotLetInEndsWithTheReason) {
  Begin();
  scheduler_->Refuse({grpc::StatusCode::UNAUTHENTICATED, "the token is not known"});
  thread_.join();
  EXPECT_EQ(ended_.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(ended_.message()), HasSubstr("the token is not known"));
}

TEST_F(AgentTest, AWorkerThatIsNotLetInGoesOnWithItsTrialsAndTriesAgain) {
  Begin();
  Send(Start(1, "echo up >fifo; read word <in; test \"$word\" = go"));
  EXPECT_EQ(FifoLine(), "up");
  scheduler_->Refuse({grpc::StatusCode::PERMISSION_DENIED, "not you"});
  scheduler_->AwaitRefusals(2);
  scheduler_->ForgetMessages();
  scheduler_->Refuse(grpc::Status::OK);
  const v1::WorkerMessage hello =
      scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_hello(); });
  EXPECT_THAT(hello.hello().held(), SizeIs(1));
  TellScript("go");
  EXPECT_EQ(scheduler_->AwaitExit(1).cause(), v1::EXIT_CAUSE_COMPLETED);
}

TEST_F(AgentTest, AWorkerThatIsNotLetInForTooLongEndsItsTrialsToo) {
  limits_.refusal_patience = std::chrono::milliseconds(0);
  Begin();
  Send(Start(1, "echo $$ >fifo; exec sleep 1000"));
  const int trial = PidFd(FifoLine());
  scheduler_->Refuse({grpc::StatusCode::UNAUTHENTICATED, "the token is not known"});
  thread_.join();
  EXPECT_EQ(ended_.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(Ends(trial));
}

TEST_F(AgentTest, GangRunsWithItsEnvironmentAndCompletes) {
  Begin();
  v1::StartAttempt start = Start(1, "echo $1 $2; echo err >&2; env; test \"$WORLD_SIZE\" = 2", 2);
  start.mutable_trial()->mutable_per_process()->set_gpus(1);
  Send(start);
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_attempt_started(); });
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_COMPLETED) << exit.message();
  EXPECT_EQ(exit.exit_code(), 0);
  EXPECT_EQ(exit.failed_rank(), -1);
  const std::string out = Log(1, "rank1.out");
  EXPECT_THAT(out, HasSubstr("0.001 a b\n"));
  for (const char* variable : {"RANK=1", "WORLD_SIZE=2", "RUNG_TRIAL_ID=1.1", "RUNG_ATTEMPT=0",
                               "MASTER_ADDR=127.0.0.1", "CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"}) {
    EXPECT_THAT(out, HasSubstr(std::string(variable) + "\n"));
  }
  EXPECT_THAT(out, ::testing::Not(HasSubstr("SLURM_JOB_ID")));
  EXPECT_EQ(Log(1, "rank0.err"), "err\n");
}

TEST_F(AgentTest, ReportIsForwardedAndItsDecisionReachesTheTrial) {
  stop_at_ = 2;
  Begin();
  Send(Start(1, R"($client '{"report":{"step":1,"metrics":{"acc":0.5,"loss":"nan"}}}' \
                           '{"report":{"step":2,"metrics":{"acc":0.25},"count":3}}')"));
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_STOPPED);
  EXPECT_EQ(Log(1, "rank0.out"), "{\"decision\":\"continue\"}\n{\"decision\":\"stop\"}\n");
  const v1::WorkerReport report = scheduler_->Await(IsReport).report();
  ASSERT_THAT(report.metrics(), SizeIs(2));
  EXPECT_EQ(report.metrics(0).name(), "acc");
  EXPECT_EQ(report.metrics(0).value(), 0.5);
  EXPECT_TRUE(std::isnan(report.metrics(1).value()));
}

TEST_F(AgentTest, ReportWrittenRightBeforeTheExitIsNotLost) {
  Begin();
  Send(Start(1, R"(exec $client --no-wait '{"report":{"step":1,"metrics":{"a":1}}}' \
                                          '{"report":{"step":2,"metrics":{"a":2}}}')"));
  scheduler_->AwaitExit(1);
  scheduler_->Await(
      [](const v1::WorkerMessage& m) { return IsReport(m) && m.report().step() == 2; });
}

TEST_F(AgentTest, GarbageOnTheSocketIsAnErrorAndTheTrialGoesOn) {
  Begin();
  Send(Start(1, R"($client 'garbage' '{"reprot":{}}' '{"report":{"step":1,"metrics":{"a":1}}}')"));
  EXPECT_EQ(scheduler_->AwaitExit(1).cause(), v1::EXIT_CAUSE_COMPLETED);
  const std::string out = Log(1, "rank0.out");
  EXPECT_THAT(out, HasSubstr(R"({"error":"not a JSON object)"));
  EXPECT_THAT(out, HasSubstr("did you mean 'report'"));
  EXPECT_THAT(out, HasSubstr(R"({"decision":"continue"})"));
}

TEST_F(AgentTest, FailedRankEndsItsPeerAndSendsItsStderr) {
  Begin();
  Send(Start(1,
             "test $RANK = 0 && exec sleep 1000; printf 'bad \\377 news\\n' >&2; "
             "until test -e ready; do sleep 0.01; done; exit 3",
             2));
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_attempt_started(); });
  std::ofstream(folder_ + "/ready");
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_FAILED);
  EXPECT_EQ(exit.failed_rank(), 1);
  EXPECT_EQ(exit.exit_code(), 3);
  ASSERT_THAT(exit.stderr_tails(), SizeIs(1));
  EXPECT_EQ(exit.stderr_tails(0).rank(), 1);
  EXPECT_EQ(exit.stderr_tails(0).text(), "bad \xEF\xBF\xBD news\n");  // U+FFFD for the bad byte
}

TEST_F(AgentTest, WorkerWithoutFolderOrProgramRefuses) {
  Begin();
  v1::StartAttempt folder = Start(1, "true");
  folder.mutable_trial()->set_working_dir(folder_ + "/gone");
  Send(folder);
  v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_REFUSED);
  EXPECT_THAT(exit.message(), HasSubstr(folder_ + "/gone"));
  v1::StartAttempt program = Start(2, "true");
  program.mutable_trial()->set_command(0, "no-such-program");
  Send(program);
  exit = scheduler_->AwaitExit(2);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_REFUSED);
  EXPECT_THAT(exit.message(), HasSubstr("no-such-program"));
}

TEST_F(AgentTest, GangStartsWholeOrNotAtAll) {
  Begin();
  // It exists and is executable, so only exec itself can find out that it is no program.
  std::ofstream(folder_ + "/broken") << "#!/does/not/exist\n";
  chmod((folder_ + "/broken").c_str(), 0700);
  v1::StartAttempt start = Start(1, "x", 2);
  start.mutable_trial()->set_command(0, "./broken");
  Send(start);
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_FAILED);
  EXPECT_THAT(exit.message(), HasSubstr("./broken"));
}

TEST_F(AgentTest, StopAtOnceKillsWhatIgnoresSigtermWithAllItsHelpers) {
  Begin();
  Send(Start(1,
             "trap '' TERM; (setsid sh -c 'echo $$ >fifo; exec sleep 1000' &); echo $$ >fifo; "
             "while :; do sleep 1000; done"));
  const int first = PidFd(FifoLine());
  const int second = PidFd(FifoLine());
  Stop(1, /*at_once=*/true, /*grace_ms=*/100);
  EXPECT_TRUE(Ends(first));
  EXPECT_TRUE(Ends(second));
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_STOPPED);
  EXPECT_EQ(exit.exit_code(), 137);
}

TEST_F(AgentTest, KilledShimIsAFailureAndLeavesNoProcess) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // as main.cc does
  Begin();
  Send(
      Start(1, "(setsid sh -c 'echo $$ >fifo; exec sleep 1000' &); echo $PPID >>shim; sleep 1000"));
  const int helper = PidFd(FifoLine());
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_attempt_started(); });
  std::string shim;
  while (shim.empty() || shim.back() != '\n') shim = FileText(folder_ + "/shim");
  kill(static_cast<pid_t>(std::stol(shim)), SIGKILL);
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_FAILED);
  EXPECT_EQ(exit.exit_code(), 137);
  EXPECT_TRUE(Ends(helper));
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(AgentTest, ReportsOfAnOutageAreDeliveredWhenTheSchedulerIsBack) {
  Begin();
  Send(Start(1, R"(read line <in; $client '{"report":{"step":1,"metrics":{"a":1}}}' \
                   '{"report":{"step":2,"metrics":{"a":2}}}' >out; cat out >fifo)"));
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_attempt_started(); });
  scheduler_->Stop();
  scheduler_->ForgetMessages();
  TellScript("go");
  EXPECT_EQ(FifoLine(), R"({"decision":"continue","durable":false})");
  EXPECT_EQ(FifoLine(), R"({"decision":"continue","durable":false})");
  scheduler_->Start([this](const v1::WorkerMessage& m) { return Reply(m); });
  const v1::Hello hello =
      scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_hello(); }).hello();
  ASSERT_THAT(hello.held(), SizeIs(1));
  EXPECT_EQ(scheduler_->AwaitExit(1).cause(), v1::EXIT_CAUSE_COMPLETED);
  for (const int64_t step : {1, 2}) {
    scheduler_->Await(
        [&](const v1::WorkerMessage& m) { return IsReport(m) && m.report().step() == step; });
  }
}

TEST_F(AgentTest, AttemptThatIsNotKeptIsKilled) {
  Begin();
  Send(Start(1, "echo $$ >fifo; exec sleep 1000"));
  const int rank = PidFd(FifoLine());
  scheduler_->Stop();
  keep_held_ = false;
  scheduler_->Start([this](const v1::WorkerMessage& m) { return Reply(m); });
  EXPECT_TRUE(Ends(rank));
}

TEST_F(AgentTest, CheckpointIsStoredWithItsManifestAndResumedFrom) {
  Begin();
  Send(
      Start(1, R"(mkdir "$RUNG_CHECKPOINT_DIR/step-5"; printf 12345 >"$RUNG_CHECKPOINT_DIR/step-5/w"
                   $client '{"checkpoint":{"step":5,"path":"step-5"}}')"));
  scheduler_->AwaitExit(1);
  EXPECT_EQ(Log(1, "rank0.out"), "{\"checkpoint\":\"stored\"}\n");
  const v1::CheckpointReported told =
      scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_checkpoint(); }).checkpoint();
  EXPECT_EQ(told.step(), 5);
  EXPECT_EQ(told.bytes(), 5);
  v1::StartAttempt resumed = Start(2, "cat \"$RUNG_RESUME_FROM/w\"; echo \" $RUNG_RESUME_STEP\"");
  resumed.set_resume_from(told.path());
  resumed.set_resume_step(5);
  Send(resumed);
  EXPECT_EQ(scheduler_->AwaitExit(2).cause(), v1::EXIT_CAUSE_COMPLETED);
  EXPECT_EQ(Log(2, "rank0.out"), "12345 5\n");

  std::filesystem::resize_file(told.path() + "/w", 4);
  resumed.mutable_attempt()->set_trial_number(3);
  Send(resumed);
  const v1::AttemptExited exit = scheduler_->AwaitExit(3);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_LOST);
  EXPECT_THAT(exit.message(), HasSubstr("4 bytes"));
}

TEST_F(AgentTest, LogIsFollowedToTheEndOfTheAttempt) {
  Begin();
  Send(Start(1, "echo one; echo oops >&2; read line <in; echo two"));
  scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_attempt_started(); });
  Fetch(7, 1, /*follow=*/true);
  scheduler_->AwaitLogPart(7, "one\n");
  TellScript("go");
  EXPECT_THAT(scheduler_->AwaitLog(7, nullptr), HasSubstr("two\n"));
  scheduler_->AwaitExit(1);
  Fetch(8, 1, /*follow=*/true);  // of an attempt that is over: what there is
  EXPECT_EQ(scheduler_->AwaitLog(8, nullptr), "one\ntwo\noops\n");
}

TEST_F(AgentTest, LogThatIsNotHereIsAnError) {
  Begin();
  Fetch(9, 77, /*follow=*/false);
  std::string error;
  scheduler_->AwaitLog(9, &error);
  EXPECT_THAT(error, HasSubstr("no log"));
}

TEST_F(AgentTest, CanceledFetchEnds) {
  Begin();
  Send(Start(1, "echo one; exec sleep 1000"));
  Fetch(7, 1, /*follow=*/true);  // before its files are there
  scheduler_->AwaitLogPart(7, "one\n");
  Fetch(7, 1, /*follow=*/true, /*cancel=*/true);
  scheduler_->AwaitLog(7, nullptr);
}

TEST_F(AgentTest, ShutdownGivesTrialsTheirSigterm) {
  Begin();
  Send(Start(1,
             "trap 'echo ended >fifo; exit 0' TERM; echo ready >fifo; "
             "while :; do sleep 0.05; done"));
  EXPECT_EQ(FifoLine(), "ready");
  End();
  EXPECT_EQ(FifoLine(), "ended");
}

TEST_F(AgentTest, ShutdownEndsWithAGoodbye) {
  Begin();
  Send(Start(1, "echo ready >fifo; exec sleep 600"));
  EXPECT_EQ(FifoLine(), "ready");
  End();
  EXPECT_TRUE(
      scheduler_->Await([](const v1::WorkerMessage& m) { return m.has_goodbye(); }).has_goodbye());
}

TEST_F(AgentTest, ShutdownTellsAnExitThatTheSchedulerHasNotAcknowledged) {
  acknowledges_exits_ = false;
  Begin();
  Send(Start(1, "true"));
  scheduler_->AwaitExit(1);
  scheduler_->Stop();
  scheduler_->ForgetMessages();
  acknowledges_exits_ = true;
  agent_->Shutdown();
  scheduler_->Start([this](const v1::WorkerMessage& m) { return Reply(m); });
  EXPECT_EQ(scheduler_->AwaitExit(1).cause(), v1::EXIT_CAUSE_COMPLETED);
  thread_.join();
}

TEST_F(AgentTest, MachineThatCannotStartATrialSaysSo) {
  Begin();
  std::ofstream(folder_ + "/root") << "a file in the way";
  v1::StartAttempt start = Start(1, "true");
  start.mutable_trial()->set_checkpoint_root(folder_ + "/root");
  Send(start);
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_COULD_NOT_START);
  EXPECT_THAT(exit.message(), HasSubstr(folder_ + "/root"));
}

TEST_F(AgentTest, StartThatCannotBeReadIsAnsweredWithAnExit) {
  Begin();
  Send(Start(1, "true", /*processes=*/0));
  const v1::AttemptExited exit = scheduler_->AwaitExit(1);
  EXPECT_EQ(exit.cause(), v1::EXIT_CAUSE_REFUSED);
  EXPECT_THAT(exit.message(), HasSubstr("trial.processes"));
}

}  // namespace
}  // namespace rung::worker
