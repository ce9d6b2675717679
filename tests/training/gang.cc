#include "tests/training/gang.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "trial_runner/training/trial_main.h"

namespace rung::training {
namespace {

constexpr const char* kRankFlag = "--rank-program";

std::map<std::string, RankProgram>& Programs() {
  static std::map<std::string, RankProgram> programs;
  return programs;
}

std::string ReadText(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A port of loopback that was free a moment ago.
int FreePort() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  const bool bound =
      ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  ::close(probe);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

pid_t Spawn(const std::vector<std::string>& arguments,
            const std::map<std::string, std::string>& variables,
            const std::filesystem::path& output, const std::filesystem::path& error) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) environment.push_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  std::vector<char*> argument_pointers;
  std::vector<char*> environment_pointers;
  for (const std::string& text : arguments) {
    argument_pointers.push_back(const_cast<char*>(text.c_str()));
  }
  for (const std::string& text : environment) {
    environment_pointers.push_back(const_cast<char*>(text.c_str()));
  }
  argument_pointers.push_back(nullptr);
  environment_pointers.push_back(nullptr);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), kFlags, 0644);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error.c_str(), kFlags, 0644);
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, "/proc/self/exe", &actions, nullptr,
                                   argument_pointers.data(), environment_pointers.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("posix_spawn failed");
  return process;
}

}  // namespace

bool RegisterRankProgram(const char* name, RankProgram program) {
  return Programs().emplace(name, program).second;
}

bool RankMain(int argc, char** argv, int& status) {
  if (argc != 4 || std::string(argv[1]) != kRankFlag) return false;
  status =
      RunTrial([&] { return Programs().at(argv[2])(nlohmann::json::parse(std::string(argv[3]))); });
  return true;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "rung-training-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

Gang::Gang(const std::string& program, int world_size, const nlohmann::json& arguments) {
  const std::string port = std::to_string(FreePort());
  for (int rank = 0; rank < world_size; ++rank) {
    const std::string name = std::to_string(rank);
    processes_.push_back(Spawn({"rank", kRankFlag, program, arguments.dump()},
                               {{"RANK", name},
                                {"LOCAL_RANK", name},
                                {"WORLD_SIZE", std::to_string(world_size)},
                                {"MASTER_ADDR", "127.0.0.1"},
                                {"MASTER_PORT", port},
                                {"OMP_NUM_THREADS", "1"}},
                               folder_.path() / (name + ".out"), folder_.path() / (name + ".err")));
  }
}

Gang::~Gang() {
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
    if (processes_[static_cast<std::size_t>(rank)] == 0) continue;
    Kill(rank);
    Wait(rank);
  }
}

void Gang::Kill(int rank) { ::kill(processes_[static_cast<std::size_t>(rank)], SIGKILL); }

std::string Gang::Output(int rank) const {
  return ReadText(folder_.path() / (std::to_string(rank) + ".out"));
}

RankEnd Gang::Wait(int rank, std::chrono::seconds limit) {
  const pid_t process = std::exchange(processes_[static_cast<std::size_t>(rank)], 0);
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, process, 0)), POLLIN, 0};
  const auto limit_ms = std::chrono::milliseconds(limit).count();
  if (::poll(&ended, 1, static_cast<int>(limit_ms)) == 0) ::kill(process, SIGKILL);
  ::close(ended.fd);
  int status = 0;
  ::waitpid(process, &status, 0);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = Output(rank),
          .error = ReadText(folder_.path() / (std::to_string(rank) + ".err"))};
}

std::vector<RankEnd> Gang::WaitAll() {
  std::vector<RankEnd> ends;
  for (int rank = 0; rank < static_cast<int>(processes_.size()); ++rank) {
    ends.push_back(Wait(rank));
  }
  return ends;
}

}  // namespace rung::training
