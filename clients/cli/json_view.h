#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "rung/v1/tuner.pb.h"

/// What `--json` prints: the wire's messages with the words and field names of the database, full
/// precision, and absent fields as null. Non-finite numbers are the strings "nan", "inf", "-inf".
namespace rung::cli {

namespace pb = ::rung::v1;
using Json = nlohmann::ordered_json;

Json ToJson(double value);
Json ToJson(const pb::TrialCounts& counts);
/// `document` and `plan` are JSON inside; null where the service leaves them out.
Json ToJson(const pb::Experiment& experiment);
Json ToJson(const pb::Rung& rung);
Json ToJson(const pb::Trial& trial);
Json ToJson(const pb::Attempt& attempt);
Json ToJson(const pb::Metric& metric);
Json ToJson(const pb::DecisionRow& row);
Json ToJson(const pb::Worker& worker);

/// JSON text of the service as JSON; null when empty, the text itself when it is not JSON.
Json Parsed(const std::string& text);

/// One line. Text that is not UTF-8 is repaired, never refused.
std::string Dumped(const Json& json);

}  // namespace rung::cli
