#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/metric.h"

/// The environment of a rank: rung's own variables and torchrun's (INTERFACES.md §3).
namespace rung {

struct RankEnvironment {
  AttemptId attempt;
  std::string experiment_name;
  std::string params_json;
  std::string socket_path;
  std::string checkpoint_dir;
  std::string resume_from{};  ///< empty: unset
  Steps resume_step = 0;
  std::optional<Steps> max_step{};  ///< absent: unset
  int64_t seed = 0;
  int32_t rank = 0;
  int32_t world_size = 1;  ///< all ranks run on this machine
  uint16_t master_port = 0;
  std::vector<std::string> gpu_uuids{};  ///< of the whole gang
  int64_t milli_cpus = 1000;             ///< of this process
  std::vector<std::pair<std::string, std::string>> user{};
};

/// Whether a variable of the daemon's own environment is kept from trials: what names the job in
/// which the daemon itself runs would make Lightning, Horovod or accelerate join that job.
bool IsScrubbed(std::string_view name);

/// `outer` (`NAME=value`) without what is scrubbed, then rung's and torchrun's variables, then the
/// user's, which win. Each name once.
std::vector<std::string> BuildEnvironment(const RankEnvironment& rank,
                                          const std::vector<std::string>& outer);

/// The value of `name` in `environment`, empty when it is not there.
std::string_view ValueOf(const std::vector<std::string>& environment, std::string_view name);

}  // namespace rung
