#include "scheduler/json_document.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include <unordered_set>
#include <utility>
#include <vector>

#include "core/json_message.h"
#include "core/json_syntax.h"
#include "core/parameters.h"

namespace rung {
namespace {

/// Builds the value as nlohmann's own DOM parser would, but sees a key that comes twice.
class DocumentBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit DocumentBuilder(std::string_view text) : text_(text) {}

  absl::Status status() const { return status_; }
  Json TakeRoot() { return std::move(root_); }

  bool null() override { return Put(Json(nullptr)); }
  bool boolean(bool value) override { return Put(Json(value)); }
  bool number_integer(number_integer_t value) override { return Put(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Put(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return Put(Json(value)); }
  bool string(string_t& value) override { return Put(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // no JSON text holds one
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    if (!level.keys.insert(name).second) {
      return Fail(fmt::format("{}: key given twice in one object, allowed once",
                              PathOfKey(Path(levels_.size() - 1), name)));
    }
    level.key = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    return Fail("the document is not JSON: " + JsonSyntaxProblem(text_, position, error.what()));
  }

 private:
  struct Level {
    Json* container = nullptr;
    std::string key;  ///< of the member that comes next
    std::unordered_set<std::string> keys;
  };

  bool Fail(std::string message) {
    status_ = absl::InvalidArgumentError(std::move(message));
    return false;
  }

  std::string Path(size_t depth) const {
    std::string path;
    for (size_t i = 0; i < depth; ++i) {
      const Level& level = levels_[i];
      path = level.container->is_object()
                 ? PathOfKey(path, level.key)
                 : fmt::format("{}[{}]", path, level.container->size() - 1);
    }
    return path;
  }

  Json* Place(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    // Appended without the look-up of operator[], which is linear in an ordered object.
    auto& members = level.container->get_ref<Json::object_t&>();
    return &members
                .std::vector<std::pair<const std::string, Json>>::emplace_back(level.key,
                                                                               std::move(value))
                .second;
  }

  bool Put(Json value) {
    Place(std::move(value));
    return true;
  }

  bool Open(Json container) {
    Json* place = Place(std::move(container));
    if (levels_.size() == kDocumentDepthMax) {
      return Fail(fmt::format("{}: nested deeper than {} levels, the most allowed",
                              Path(levels_.size()), kDocumentDepthMax));
    }
    levels_.push_back({.container = place, .key = {}, .keys = {}});
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  Json root_;
  std::vector<Level> levels_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Json> ParseJsonDocument(std::string_view text, size_t bytes_max) {
  if (text.size() > bytes_max) {
    return absl::InvalidArgumentError(
        fmt::format("the document: must be at most {} bytes, found {}", bytes_max, text.size()));
  }
  DocumentBuilder builder(text);
  const bool complete = Json::sax_parse(text.begin(), text.end(), &builder);
  if (!builder.status().ok()) return builder.status();
  if (!complete) return absl::InvalidArgumentError("the document is not JSON");
  return builder.TakeRoot();
}

std::string CanonicalJson(const Json& value) {
  if (value.is_string()) return JsonQuote(value.get_ref<const std::string&>());
  if (value.is_number_float()) return JsonFloat(value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string text = value.is_object() ? "{" : "[";
  for (const auto& member : value.items()) {
    if (text.size() > 1) text += ',';
    if (value.is_object()) text += JsonQuote(member.key()) + ':';
    text += CanonicalJson(member.value());
  }
  return text + (value.is_object() ? '}' : ']');
}

}  // namespace rung
