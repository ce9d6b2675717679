#include "trial_runner/launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

RankEnvironment Rank1Of2() {
  return {.attempt = {.trial = {.experiment = {12}, .number = {3}}, .attempt = 1},
          .experiment_name = "bert",
          .params_json = R"({"lr":0.1})",
          .socket_path = "/s",
          .checkpoint_dir = "/c",
          .seed = 7,
          .rank = 1,
          .world_size = 2,
          .master_port = 20001,
          .milli_cpus = 2500};
}

TEST(Environment, HoldsThePromisedVariablesAndNoOther) {
  EXPECT_THAT(BuildEnvironment(Rank1Of2(), {}),
              UnorderedElementsAre(
                  R"(RUNG_PARAMS={"lr":0.1})", "RUNG_TRIAL_ID=12.3", "RUNG_EXPERIMENT=bert",
                  "RUNG_ATTEMPT=1", "RUNG_SOCKET=/s", "RUNG_CHECKPOINT_DIR=/c",
                  "RUNG_RESUME_STEP=0", "RUNG_SEED=7", "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2",
                  "LOCAL_WORLD_SIZE=2", "GROUP_RANK=0", "GROUP_WORLD_SIZE=1", "NODE_RANK=0",
                  "MASTER_ADDR=127.0.0.1", "MASTER_PORT=20001", "TORCHELASTIC_RUN_ID=12.3.1",
                  "TORCHELASTIC_RESTART_COUNT=1", "OMP_NUM_THREADS=2", "CUDA_VISIBLE_DEVICES="));
}

TEST(Environment, ResumeAndLimitAreThereWhenTheyApply) {
  RankEnvironment rank = Rank1Of2();
  rank.resume_from = "/c/step-10";
  rank.resume_step = 10;
  rank.max_step = 100;
  EXPECT_THAT(
      BuildEnvironment(rank, {}),
      IsSupersetOf({"RUNG_RESUME_FROM=/c/step-10", "RUNG_RESUME_STEP=10", "RUNG_MAX_STEP=100"}));
}

TEST(Environment, GangSeesAllItsGpusByUuid) {
  RankEnvironment rank = Rank1Of2();
  rank.gpu_uuids = {"GPU-a", "GPU-b"};
  EXPECT_THAT(BuildEnvironment(rank, {"CUDA_VISIBLE_DEVICES=7"}),
              Contains("CUDA_VISIBLE_DEVICES=GPU-a,GPU-b"));
}

TEST(Environment, ThreadsAreAtLeastOne) {
  RankEnvironment rank = Rank1Of2();
  rank.milli_cpus = 200;
  EXPECT_THAT(BuildEnvironment(rank, {"OMP_NUM_THREADS=64"}), Contains("OMP_NUM_THREADS=1"));
}

TEST(Environment, OuterJobIsScrubbed) {
  for (const char* name :
       {"SLURM_JOB_ID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
        "PET_NNODES", "TORCHELASTIC_USE_AGENT_STORE", "HOROVOD_RANK", "ROLE_RANK", "LD_PRELOAD",
        "RUNG_RESUME_FROM", "RUNG_MAX_STEP", "RUNG_HOME"}) {
    EXPECT_THAT(BuildEnvironment(Rank1Of2(), {std::string(name) + "=outer"}),
                Each(Not(StartsWith(std::string(name) + "="))))
        << name;
  }
}

TEST(Environment, OtherVariablesArePassedOn) {
  EXPECT_THAT(BuildEnvironment(Rank1Of2(), {"PATH=/bin", "EMPTY=", "A=b=c"}),
              IsSupersetOf({"PATH=/bin", "EMPTY=", "A=b=c"}));
}

TEST(Environment, UserWinsAndEachNameIsThereOnce) {
  RankEnvironment rank = Rank1Of2();
  rank.user = {{"OMP_NUM_THREADS", "9"}, {"LD_PRELOAD", "/x.so"}, {"PATH", "/mine"}};
  const std::vector<std::string> environment = BuildEnvironment(rank, {"PATH=/bin"});
  EXPECT_THAT(environment, IsSupersetOf({"OMP_NUM_THREADS=9", "LD_PRELOAD=/x.so", "PATH=/mine"}));
  EXPECT_THAT(environment, Not(Contains("OMP_NUM_THREADS=2")));
  EXPECT_THAT(environment, Not(Contains("PATH=/bin")));
  EXPECT_EQ(ValueOf(environment, "PATH"), "/mine");
  EXPECT_EQ(ValueOf(environment, "NOT_THERE"), "");
}

}  // namespace
}  // namespace rung
