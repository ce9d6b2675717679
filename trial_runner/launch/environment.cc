#include "trial_runner/launch/environment.h"

#include <algorithm>
#include <array>

namespace rung {
namespace {

// research: torchrun reads PET_*, a nested launcher the rest.
constexpr std::array<std::string_view, 10> kScrubbedPrefixes = {
    "SLURM_", "PMI_",          "PMIX_",    "OMPI_",   "MV2_",
    "PET_",   "TORCHELASTIC_", "HOROVOD_", "MASTER_", "RUNG_"};
constexpr std::array<std::string_view, 14> kScrubbedNames = {"RANK",
                                                             "LOCAL_RANK",
                                                             "WORLD_SIZE",
                                                             "LOCAL_WORLD_SIZE",
                                                             "GROUP_RANK",
                                                             "GROUP_WORLD_SIZE",
                                                             "ROLE_NAME",
                                                             "ROLE_RANK",
                                                             "ROLE_WORLD_SIZE",
                                                             "NODE_RANK",
                                                             "MPI_LOCALRANKID",
                                                             "TORCH_DISABLE_SHARE_RDZV_TCP_STORE",
                                                             "CUDA_VISIBLE_DEVICES",
                                                             "LD_PRELOAD"};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ',';
    text += part;
  }
  return text;
}

/// Variables of which the last one set wins.
class VariableList {
 public:
  void Set(std::string_view name, std::string_view value) {
    std::erase_if(variables_, [&](const std::string& v) { return NameOf(v) == name; });
    variables_.push_back(std::string(name) + '=' + std::string(value));
  }
  void Set(std::string_view name, int64_t value) { Set(name, std::to_string(value)); }
  std::vector<std::string> Take() { return std::move(variables_); }

 private:
  std::vector<std::string> variables_;
};

void SetRungVariables(const RankEnvironment& rank, VariableList& list) {
  list.Set("RUNG_PARAMS", rank.params_json);
  list.Set("RUNG_TRIAL_ID", ToString(rank.attempt.trial));
  list.Set("RUNG_EXPERIMENT", rank.experiment_name);
  list.Set("RUNG_ATTEMPT", rank.attempt.attempt);
  list.Set("RUNG_SOCKET", rank.socket_path);
  list.Set("RUNG_CHECKPOINT_DIR", rank.checkpoint_dir);
  if (!rank.resume_from.empty()) list.Set("RUNG_RESUME_FROM", rank.resume_from);
  list.Set("RUNG_RESUME_STEP", rank.resume_step);
  if (rank.max_step) list.Set("RUNG_MAX_STEP", *rank.max_step);
  list.Set("RUNG_SEED", rank.seed);
}

void SetTorchrunVariables(const RankEnvironment& rank, VariableList& list) {
  list.Set("RANK", rank.rank);
  list.Set("LOCAL_RANK", rank.rank);
  list.Set("WORLD_SIZE", rank.world_size);
  list.Set("LOCAL_WORLD_SIZE", rank.world_size);
  list.Set("GROUP_RANK", int64_t{0});
  list.Set("GROUP_WORLD_SIZE", int64_t{1});
  list.Set("NODE_RANK", int64_t{0});  // Lightning looks for it
  list.Set("MASTER_ADDR", "127.0.0.1");
  list.Set("MASTER_PORT", rank.master_port);
  list.Set("TORCHELASTIC_RUN_ID", ToString(rank.attempt));
  list.Set("TORCHELASTIC_RESTART_COUNT", rank.attempt.attempt);
  list.Set("OMP_NUM_THREADS", std::max<int64_t>(rank.milli_cpus / 1000, 1));
  list.Set("CUDA_VISIBLE_DEVICES", Joined(rank.gpu_uuids));
}

}  // namespace

bool IsScrubbed(std::string_view name) {
  return std::ranges::any_of(kScrubbedPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(kScrubbedNames, name) != kScrubbedNames.end();
}

std::vector<std::string> BuildEnvironment(const RankEnvironment& rank,
                                          const std::vector<std::string>& outer) {
  VariableList list;
  for (const std::string& variable : outer) {
    const std::string_view name = NameOf(variable);
    if (name.size() == variable.size() || IsScrubbed(name)) continue;
    list.Set(name, std::string_view(variable).substr(name.size() + 1));
  }
  SetRungVariables(rank, list);
  SetTorchrunVariables(rank, list);
  for (const auto& [name, value] : rank.user) list.Set(name, value);
  return list.Take();
}

std::string_view ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string_view variable : environment) {
    if (NameOf(variable) == name && variable.size() > name.size()) {
      return variable.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace rung
