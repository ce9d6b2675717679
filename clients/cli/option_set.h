#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The options that a verb declares. CLI11, which takes long to compile, stays behind this seam.
namespace rung::cli {

/// Where values go must outlive the parsing; a value that is not given keeps what it held.
class OptionSet {
 public:
  explicit OptionSet(CLI::App& app) : app_(app) {}

  /// The name of the verb.
  std::string verb() const;

  /// A required argument without a flag.
  void Argument(const std::string& name, std::string& value, const std::string& description);
  /// One or more of them.
  void Arguments(const std::string& name, std::vector<std::string>& values,
                 const std::string& description);

  /// `--json`, or `-f,--follow`. `variable`: environment variable that sets it too, by 1 or true.
  void Flag(const std::string& flag, bool& value, const std::string& description,
            const std::string& variable = "");

  struct Named {
    std::string flag;
    std::string type_name;  ///< what stands for the value in --help: "N", "FILE"
    std::string description;
    std::string variable = {};            ///< environment variable that sets it too
    std::vector<std::string> words = {};  ///< the only values allowed; empty: any
    bool required = false;
  };
  void Text(const Named& option, std::string& value);
  /// May be repeated.
  void Texts(const Named& option, std::vector<std::string>& values);

  struct Range {
    int64_t min = 0;
    int64_t max = 0;
  };
  /// The value that `value` holds is shown as the default.
  void Integer(const Named& option, Range range, int64_t& value);
  void Integer(const Named& option, Range range, std::optional<int64_t>& value);
  void Number(const Named& option, std::optional<double>& value);

  /// A verb below this one; `declare` adds its options, `chosen` is called when it was named. One
  /// of them has to be named.
  void Subverb(const std::string& name, const std::string& description,
               const std::function<void(OptionSet&)>& declare, std::function<void()> chosen);

  /// Takes any further argument and flag.
  void AllowAnything();

 private:
  CLI::App& app_;
};

}  // namespace rung::cli
