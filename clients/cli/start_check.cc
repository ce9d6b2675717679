#include "clients/cli/start_check.h"

#include "clients/cli/json_view.h"
#include "trial_runner/launch/program.h"

namespace rung::cli {
namespace {

const std::string* TextAt(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace

std::string WhyNotStartable(const DocumentFile& document, std::string_view search_path) {
  const Json json = Parsed(document.text);
  if (!json.is_object() || !json.contains("trial") || !json["trial"].is_object()) return "";
  const Json& trial = json["trial"];
  if (!trial.contains("command") || !trial["command"].is_array() || trial["command"].empty() ||
      !trial["command"][0].is_string()) {
    return "";
  }
  const std::string program = trial["command"][0].get<std::string>();
  if (program.find_first_of("{}") != std::string::npos) return "";  // a placeholder
  const std::string* folder = TextAt(trial, "working_dir");
  const std::string* path = trial.contains("env") ? TextAt(trial["env"], "PATH") : nullptr;
  const auto found = FindProgram(program, folder == nullptr ? document.working_dir : *folder,
                                 path == nullptr ? search_path : std::string_view(*path));
  return std::string(found.status().message());
}

}  // namespace rung::cli
