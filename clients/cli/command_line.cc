#include "clients/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "clients/cli/option_set.h"
#include "clients/cli/quantity.h"
#include "proto/utf8.h"

/// The one file that includes CLI11: its exceptions end here.
namespace rung::cli {
namespace {

constexpr const char* kDescription =
    "rung: distributed hyperparameter tuning.\n"
    "\n"
    "EXPERIMENT is an id (12), or a name if only one experiment has it. TRIAL is 12.3, or NAME.3.\n"
    "The service is --server, else RUNG_SERVER, else the one of `rung local up`.";

constexpr const char* kExamples =
    "Examples:\n"
    "  rung run experiment.json          # on this machine, to the end, then the result\n"
    "  rung submit experiment.json       # prints the experiment's id\n"
    "  rung watch 12\n"
    "  rung trials 12 --top 5\n"
    "\n"
    "Exit status: 0 success, 1 the request failed, 2 wrong usage.";

CLI::Option* Described(CLI::Option* option, const OptionSet::Named& named) {
  option->type_name(named.type_name)->required(named.required);
  if (!named.variable.empty()) option->envname(named.variable);
  if (!named.words.empty()) option->check(CLI::IsMember(named.words));
  return option;
}

void DeclareGlobalOptions(OptionSet set, GlobalOptions& options) {
  set.Text({.flag = "--server",
            .type_name = "ADDRESS",
            .description = "Address of the service: HOST:PORT or unix:/path",
            .variable = "RUNG_SERVER"},
           options.server);
  set.Text(
      {.flag = "--token-file",
       .type_name = "FILE",
       .description =
           "File with the token for TCP, a line name:secret (else `token` in the home folder)"},
      options.token_file);
  set.Flag("--insecure-network", options.insecure_network,
           "Send the token unencrypted beyond this machine; for isolated networks only",
           "RUNG_INSECURE_NETWORK");
  set.Text({.flag = "--log-level",
            .type_name = "LEVEL",
            .description = "What this command, and daemons that it starts, say of their own work",
            .words = {"debug", "info", "warning", "error"}},
           options.log_level);
}

// What is wrong with the command line: the word that nothing knows, where there is one.
std::string WrongUsage(const CLI::App& app, const CLI::App& asked, bool wants_command,
                       const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  for (const std::string& word : unknown) {
    if (word.starts_with('-')) return fmt::format("there is no option '{}'", word);
  }
  if (unknown.empty() || !(wants_command || dynamic_cast<const CLI::ExtrasError*>(&error))) {
    return error.what();
  }
  if (!wants_command) return fmt::format("'{}' is one argument too many", unknown.front());
  const std::string verb = &asked == &app ? "" : asked.get_name() + " ";
  return fmt::format("there is no command '{}{}'", verb, unknown.front());
}

void DeclareVerbs(CLI::App& app, Action& chosen) {
  for (const Verb& verb : Verbs()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.description);
    sub->group(verb.group);
    sub->fallthrough();
    if (*verb.examples != '\0') sub->footer(fmt::format("Examples:\n{}", verb.examples));
    OptionSet set(*sub);
    Action action = verb.declare(set);
    sub->callback([&chosen, action = std::move(action)] { chosen = action; });
  }
}

}  // namespace

std::string OptionSet::verb() const { return app_.get_name(); }

void OptionSet::Argument(const std::string& name, std::string& value,
                         const std::string& description) {
  app_.add_option(name, value, description)->required()->type_name("");
}

void OptionSet::Arguments(const std::string& name, std::vector<std::string>& values,
                          const std::string& description) {
  app_.add_option(name, values, description)->required()->type_name("");
}

void OptionSet::Flag(const std::string& flag, bool& value, const std::string& description,
                     const std::string& variable) {
  CLI::Option* option = app_.add_flag(flag, value, description);
  if (!variable.empty()) option->envname(variable);
}

void OptionSet::Text(const Named& option, std::string& value) {
  Described(app_.add_option(option.flag, value, option.description), option);
}

void OptionSet::Texts(const Named& option, std::vector<std::string>& values) {
  // One value a flag: `--show a TRIAL` must not take TRIAL for a second value.
  Described(app_.add_option(option.flag, values, option.description), option)
      ->type_size(1)
      ->allow_extra_args(false);
}

void OptionSet::Integer(const Named& option, Range range, int64_t& value) {
  Described(app_.add_option(option.flag, value, option.description), option)
      ->check(CLI::Range(range.min, range.max))
      ->capture_default_str();
}

void OptionSet::Integer(const Named& option, Range range, std::optional<int64_t>& value) {
  Described(app_.add_option(option.flag, value, option.description), option)
      ->check(CLI::Range(range.min, range.max));
}

void OptionSet::Number(const Named& option, std::optional<double>& value) {
  Described(app_.add_option(option.flag, value, option.description), option);
}

void OptionSet::Subverb(const std::string& name, const std::string& description,
                        const std::function<void(OptionSet&)>& declare,
                        std::function<void()> chosen) {
  app_.require_subcommand(1);
  CLI::App* sub = app_.add_subcommand(name, description);
  sub->fallthrough();
  OptionSet set(*sub);
  declare(set);
  sub->callback(std::move(chosen));
}

void OptionSet::AllowAnything() {
  app_.fallthrough(false);  // or the verb's own extras would be looked for among the global options
  app_.allow_extras();
  app_.set_help_flag();
}

Parsing ParseCommandLine(int argc, const char* const* argv, Console& console) {
  Parsing parsing;
  for (int i = 1; i < argc; ++i) {
    if (!FirstNonUtf8(argv[i]).has_value()) continue;
    console.err << "rung: argument " << i << " is not UTF-8: " << Printable(argv[i]) << "\n";
    parsing.exit_status = kWrongUsage;
    return parsing;
  }
  CLI::App app(kDescription, "rung");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("rung ") + RUNG_VERSION);
  app.require_subcommand(1);
  DeclareGlobalOptions(OptionSet(app), parsing.options);
  DeclareVerbs(app, parsing.action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help and --version
    app.exit(asked, console.out, console.err);
    parsing.exit_status = kSuccess;
  } catch (const CLI::ParseError& error) {
    const auto subs = app.get_subcommands();
    const CLI::App& asked = subs.empty() ? app : *subs.front();
    const std::string verb = subs.empty() ? "" : fmt::format(" {}", asked.get_name());
    const bool wants_command = !asked.get_subcommands([](const CLI::App*) { return true; }).empty();
    console.err << "rung: " << Printable(WrongUsage(app, asked, wants_command, error))
                << "\nRun `rung" << verb << " --help` for the "
                << (wants_command ? "commands" : "options") << ".\n";
    parsing.exit_status = kWrongUsage;
  }
  return parsing;
}

}  // namespace rung::cli
