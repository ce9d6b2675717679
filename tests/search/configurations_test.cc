#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/searcher.h"

/// The first configurations of two spaces with random and with sobol, written once by
/// configurations_reference.py.
///
/// A case of the file changes only when the meaning of a seed does, which breaks every promise of
/// reproducibility: never to make this test pass.
namespace rung {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> Texts(const Json& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(value.dump());
  return texts;
}

Domain DomainOf(const std::string& form, const Json& arguments) {
  const auto number = [&](size_t i) { return arguments.at(i).get<double>(); };
  const auto integer = [&](size_t i) { return arguments.at(i).get<int64_t>(); };
  if (form == "uniform") return Uniform{number(0), number(1)};
  if (form == "quniform") return QUniform{number(0), number(1), number(2)};
  if (form == "loguniform") return LogUniform{number(0), number(1)};
  if (form == "qloguniform") return QLogUniform{number(0), number(1), number(2)};
  if (form == "randint") return RandInt{integer(0), integer(1)};
  if (form == "qrandint") return QRandInt{integer(0), integer(1), integer(2)};
  if (form == "lograndint") return LogRandInt{integer(0), integer(1)};
  if (form == "normal") return Normal{number(0), number(1)};
  if (form == "lognormal") return LogNormal{number(0), number(1)};
  if (form == "choice") return Choice{Texts(arguments)};
  EXPECT_EQ(form, "grid");
  return GridValues{Texts(arguments)};
}

SpaceSpec SpaceOf(const Json& document) {
  SpaceSpec space;
  for (const auto& [name, form] : document.items()) {
    ParameterSpec parameter{.name = name, .domain = Constant{form.dump()}, .when = {}};
    if (form.is_object()) {
      for (const auto& [key, arguments] : form.items()) {
        if (key != "when") {
          parameter.domain = DomainOf(key, arguments);
          continue;
        }
        for (const auto& [parent, values] : arguments.items()) {
          parameter.when.push_back({.parameter = parent, .values = Texts(values)});
        }
      }
    }
    space.parameters.push_back(std::move(parameter));
  }
  return space;
}

TEST(Configurations, AreThoseOfTheGoldenFile) {
  std::ifstream file(std::string(RUNG_SOURCE_DIR) + "/tests/golden/configurations.json");
  const Json document = Json::parse(file);
  for (const Json& sample : document.at("cases")) {
    const auto trials = sample.at("trials").get<int32_t>();
    SearcherSpec spec{RandomSearcherSpec{trials}, {}};
    if (sample.value("searcher", "random") == "sobol") spec.kind = SobolSearcherSpec{trials};
    const auto searcher =
        MakeSearcher(spec, SpaceOf(sample.at("space")), sample.at("seed").get<int64_t>());
    ASSERT_TRUE(searcher.ok()) << searcher.status();
    const Json& golden = sample.at("configurations");
    for (size_t i = 0; i < golden.size(); ++i) {
      const auto ours = (*searcher)->Suggest({static_cast<int32_t>(i)});
      ASSERT_TRUE(ours.has_value()) << i;
      // Through the same writer, which keeps 1, 1.0 and true apart.
      ASSERT_EQ(Json::parse(ours->ToJson()).dump(), golden[i].dump()) << i;
    }
    const auto end = static_cast<int32_t>(golden.size());
    EXPECT_EQ((*searcher)->Suggest({end}), std::nullopt);
    const bool finite = sample.at("finite").get<bool>();
    EXPECT_EQ((*searcher)->ExhaustedReason(), finite ? "space_exhausted" : "trials_exhausted");
  }
}

}  // namespace
}  // namespace rung
