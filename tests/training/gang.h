/// Runs rank programs of the test binary as real processes that meet like a gang of rung-worker.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rung::training {

/// A main() for one rank: gets the gang's arguments, returns the exit status. RankEnvironment and
/// the trial contract are in its environment.
using RankProgram = int (*)(const nlohmann::json& arguments);

/// Makes `program` known to RankMain; call it from a static initialiser.
bool RegisterRankProgram(const char* name, RankProgram program);

/// In main(), before anything else: in a process that a Gang has started, runs its program under
/// RunTrial and returns true with its status.
bool RankMain(int argc, char** argv, int& status);

/// How a rank ended.
struct RankEnd {
  int status = 0;      ///< exit status, or 128 + signal
  std::string output;  ///< stdout
  std::string error;   ///< stderr
};

/// A folder under the system's temporary one, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Gang {
 public:
  /// Starts `world_size` processes with one CPU thread each.
  Gang(const std::string& program, int world_size, const nlohmann::json& arguments);
  /// Kills what still runs.
  ~Gang();
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  void Kill(int rank);
  /// What `rank` has written to stdout so far.
  std::string Output(int rank) const;
  /// Waits for `rank`; one that outlives the limit is killed and has status 137.
  RankEnd Wait(int rank, std::chrono::seconds limit = std::chrono::seconds(180));
  std::vector<RankEnd> WaitAll();

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> processes_;  // 0 once waited for
};

}  // namespace rung::training
