#include "scheduler/spec_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <variant>
#include <vector>

#include "core/parameters.h"
#include "scheduler/json_document.h"
#include "search/searcher.h"

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The example of INTERFACES.md §2.
constexpr std::string_view kBertAsha = R"({
  "version": 1,
  "name": "bert-asha",
  "metric": "accuracy",
  "goal": "maximize",
  "seed": 7,
  "space": {
    "lr":           {"loguniform": [1e-6, 1e-4]},
    "batch_size":   {"choice": [16, 32, 64]},
    "warmup_steps": {"randint": [500, 2000]},
    "weight_decay": {"uniform": [0.0, 0.1]}
  },
  "searcher":  {"random": {"trials": 27}},
  "scheduler": {"asha": {"max_t": 100, "grace_period": 10, "reduction_factor": 3}},
  "trial": {
    "command": ["python3", "train.py", "--lr", "{lr}", "--batch-size", "{batch_size}"],
    "processes": 2,
    "per_process": {"gpus": 1, "cpus": 2, "memory": "8GiB"},
    "max_failures": 2
  }
})";

/// kBertAsha with the value at `pointer` replaced, or removed where `json` is empty.
std::string With(const std::string& pointer, const std::string& json) {
  Json document = Json::parse(kBertAsha);
  const Json::json_pointer where(pointer);
  if (json.empty()) {
    document[where.parent_pointer()].erase(where.back());
  } else {
    document[where] = Json::parse(json);
  }
  return document.dump();
}

/// Why a document is refused, by its reader or by the searcher that is made of it.
std::string ErrorOf(const std::string& text) {
  const auto document = ReadExperimentDocument(text, "/home/ada/bert");
  if (!document.ok()) return std::string(document.status().message());
  const ExperimentSpec& spec = document->spec;
  const auto searcher = MakeSearcher(spec.searcher, spec.space, spec.seed);
  return searcher.ok() ? "accepted" : std::string(searcher.status().message());
}

TEST(SpecJson, ReadsTheExampleOfTheInterfaces) {
  const auto document = ReadExperimentDocument(kBertAsha, "/home/ada/bert");
  ASSERT_TRUE(document.ok()) << document.status();
  const ExperimentSpec& spec = document->spec;
  EXPECT_EQ(spec.name, "bert-asha");
  EXPECT_EQ(spec.metric, "accuracy");
  EXPECT_EQ(spec.goal, Goal::kMaximize);
  EXPECT_EQ(spec.best_by, BestBy::kBest);
  EXPECT_EQ(spec.seed, 7);
  ASSERT_EQ(spec.space.parameters.size(), 4u);
  EXPECT_EQ(spec.space.parameters[0].name, "lr");
  EXPECT_EQ(std::get<LogUniform>(spec.space.parameters[0].domain).high, 1e-4);
  EXPECT_THAT(std::get<Choice>(spec.space.parameters[1].domain).values,
              ElementsAre("16", "32", "64"));
  EXPECT_EQ(std::get<RandInt>(spec.space.parameters[2].domain).high, 2000);
  EXPECT_EQ(std::get<RandomSearcherSpec>(spec.searcher.kind).trials, 27);
  EXPECT_EQ(std::get<AshaSpec>(spec.scheduler).grace_period, 10);
  ASSERT_TRUE(spec.trial.has_value());
  EXPECT_EQ(spec.trial->working_dir, "/home/ada/bert");
  EXPECT_EQ(spec.trial->processes, 2);
  EXPECT_EQ(spec.trial->per_process,
            (Resources{.milli_cpus = 2000, .memory_bytes = int64_t{8} << 30, .gpus = 1}));
  EXPECT_EQ(spec.trial->max_failures, 2);
  EXPECT_EQ(spec.trial->grace, std::chrono::seconds(30));
  EXPECT_EQ(spec.limits.metrics_per_trial, 100'000);
}

AshaSpec AshaOf(const std::string& text) {
  const auto document = ReadExperimentDocument(text, "/home/ada/bert");
  EXPECT_TRUE(document.ok()) << document.status();
  if (!document.ok()) return {};
  return std::get<AshaSpec>(document->spec.scheduler);
}

TEST(SpecJson, AResumableTrialIsPromotedUnlessTheDocumentSaysOtherwise) {
  EXPECT_EQ(AshaOf(std::string(kBertAsha)).variant, AshaSpec::Variant::kStopping);
  EXPECT_EQ(AshaOf(With("/trial/resumable", "true")).variant, AshaSpec::Variant::kPromotion);
  Json document = Json::parse(With("/trial/resumable", "true"));
  document["scheduler"]["asha"]["variant"] = "stopping";
  EXPECT_EQ(AshaOf(document.dump()).variant, AshaSpec::Variant::kStopping);
  document["scheduler"]["asha"]["variant"] = "promotion";
  EXPECT_EQ(AshaOf(document.dump()).variant, AshaSpec::Variant::kPromotion);
  // Clients of ask/tell keep their own checkpoints.
  document.erase("trial");
  EXPECT_EQ(AshaOf(document.dump()).variant, AshaSpec::Variant::kPromotion);
  document["scheduler"]["asha"].erase("variant");
  EXPECT_EQ(AshaOf(document.dump()).variant, AshaSpec::Variant::kStopping);
}

TEST(SpecJson, WhatOnlyStoppingKnowsIsRefusedInPromotion) {
  Json document = Json::parse(With("/trial/resumable", "true"));
  document["scheduler"]["asha"]["cut"] = "quantile";  // the default changes nothing
  document["scheduler"]["asha"]["min_rivals"] = 0;
  EXPECT_EQ(AshaOf(document.dump()).variant, AshaSpec::Variant::kPromotion);
  document["scheduler"]["asha"]["min_rivals"] = 3;
  EXPECT_THAT(ErrorOf(document.dump()),
              HasSubstr("scheduler.asha.min_rivals: must be absent with variant \"promotion\""));
  document["scheduler"]["asha"]["min_rivals"] = 0;
  document["scheduler"]["asha"]["cut"] = "top";
  EXPECT_THAT(ErrorOf(document.dump()), HasSubstr("scheduler.asha.cut: must be absent"));
}

TEST(SpecJson, ReadsBracketsTheCutTopAndHyperband) {
  EXPECT_EQ(AshaOf(With("/scheduler/asha/brackets", "4")).brackets, 4);
  EXPECT_EQ(AshaOf(With("/scheduler/asha/cut", R"("top")")).cut, AshaSpec::Cut::kTop);
  const AshaSpec hyperband = AshaOf(With(
      "/scheduler", R"({"hyperband": {"max_t": 100, "grace_period": 10, "reduction_factor": 3}})"));
  EXPECT_EQ(hyperband.brackets, 4);  // levels 10, 30, 90, and one without a rung
  EXPECT_EQ(hyperband.max_t, 100);
}

TEST(SpecJson, ChoiceValuesOfAnyJsonTypeKeepTheirTypesAndOrder) {
  const auto read = ReadExperimentDocument(
      With("/space/batch_size",
           R"({"choice": [[1, [2.0, {"b": null, "a": [true, "x"]}]], {}, [], null, "16", 16,)"
           R"( 1.6e1]})"),
      "/srv");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(std::get<Choice>(read->spec.space.parameters[1].domain).values,
              ElementsAre(R"([1,[2.0,{"b":null,"a":[true,"x"]}]])", "{}", "[]", "null", R"("16")",
                          "16", "16.0"));
}

TEST(SpecJson, ReadsMedian) {
  const auto median = [](const std::string& json) {
    const auto read = ReadExperimentDocument(With("/scheduler", json), "/srv");
    EXPECT_TRUE(read.ok()) << read.status();
    return std::get<MedianSpec>(read->spec.scheduler);
  };
  const MedianSpec spec = median(R"({"median": {"grace_period": 5}})");
  EXPECT_EQ(spec.grace_period, 5);
  EXPECT_EQ(spec.min_rivals, 3);
  EXPECT_EQ(spec.max_t, std::nullopt);
  EXPECT_EQ(median(R"({"median": {"grace_period": 5, "min_rivals": 9, "max_t": 20}})").max_t, 20);
}

TEST(SpecJson, ReadsSobol) {
  const auto read = ReadExperimentDocument(
      With("/searcher", R"({"sobol": {"trials": 32, "initial_points": []}})"), "/srv");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(std::get<SobolSearcherSpec>(read->spec.searcher.kind).trials, 32);
}

TEST(SpecJson, FillsInTheWorkingFolderAndKeepsTheRestOfTheText) {
  const std::string text = With("/trial/env", R"({"trial": "{\"trial\": {}}"})");
  const auto document = ReadExperimentDocument(text, "/home/ada/a \"b\"");
  ASSERT_TRUE(document.ok()) << document.status();
  const std::string inserted = R"("working_dir": "/home/ada/a \"b\"", )";
  const size_t at = document->text.find(inserted);
  ASSERT_NE(at, std::string::npos);
  std::string rest = document->text;
  EXPECT_EQ(rest.erase(at, inserted.size()), text);
  // What is stored is complete: it is read again without the caller's folder.
  EXPECT_EQ(ParseExperimentSpec(document->text)->trial->working_dir, "/home/ada/a \"b\"");

  const std::string own = With("/trial/working_dir", R"("/srv")");
  EXPECT_EQ(ReadExperimentDocument(own, "/elsewhere")->text, own);
  EXPECT_EQ(ReadExperimentDocument(own, "/elsewhere")->spec.trial->working_dir, "/srv");
}

TEST(SpecJson, FillsInTheWorkingFolderUnderAnEscapedKey) {
  std::string text(kBertAsha);
  text.replace(text.find("\"trial\""), 7, "\"tr\\u0069al\"");
  const auto document = ReadExperimentDocument(text, "/srv");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(ParseExperimentSpec(document->text)->trial->working_dir, "/srv");
}

/// `text` with so much white space behind it that it has `bytes`.
std::string Padded(std::string text, size_t bytes) {
  text.resize(bytes, ' ');
  return text;
}

TEST(SpecJson, ADocumentIsReadAgainHoweverLongItBecame) {
  // `"working_dir": "/srv", `
  constexpr size_t kInserted = 23;
  const std::string longest = Padded(std::string(kBertAsha), kDocumentBytesMax - kInserted);
  const auto document = ReadExperimentDocument(longest, "/srv");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->text.size(), kDocumentBytesMax);
  EXPECT_TRUE(ParseExperimentSpec(document->text).ok());
  EXPECT_EQ(ReadExperimentDocument(longest + " ", "/srv").status().message(),
            "the document: must be at most 1048576 bytes with trial.working_dir filled in, found "
            "1048577");
  EXPECT_EQ(ReadExperimentDocument(Padded(std::string(kBertAsha), kDocumentBytesMax + 1), "/srv")
                .status()
                .message(),
            "the document: must be at most 1048576 bytes, found 1048577");
  // As the first versions stored it.
  EXPECT_TRUE(ParseExperimentSpec(Padded(document->text, kDocumentBytesMax + kInserted)).ok());
}

TEST(SpecJson, ADocumentThatGrowsAsItIsWrittenAnewIsLimitedToo) {
  std::string text = With("/space/more", "[]");
  std::string numbers = "1e5";  // written 1e+05
  for (int i = 1; i < 200'000; ++i) numbers += ",1e5";
  text.replace(text.find("[]"), 2, "[" + numbers + "]");
  text.replace(text.find("\"trial\""), 7, "\"tr\\u0069al\"");
  ASSERT_LT(text.size(), kDocumentBytesMax);
  EXPECT_THAT(ErrorOf(text), HasSubstr("with trial.working_dir filled in, found 12"));
}

TEST(SpecJson, ReadsEveryFormOfTheSpace) {
  const std::string space = R"({
    "a": {"quniform": [0.2, 0.8, 0.3]}, "b": {"qloguniform": [1, 100, 10]},
    "c": {"qrandint": [1, 10, 3]}, "d": {"lograndint": [1, 1000]}, "e": {"normal": [0, 1]},
    "f": {"lognormal": [0, 0.5]}, "g": {"grid": [1e-5, 1e-4]}, "h": [1, 2.50, "x"], "i": null,
    "j": {"choice": ["sgd", {"name": "adam", "beta": 1}, true, 16, 16.0]},
    "k": {"when": {"j": ["sgd", 16]}, "uniform": [0, 1]}})";
  Json document = Json::parse(kBertAsha);
  document["space"] = Json::parse(space);
  document["trial"]["command"] = {"run", "{a}", "{{literal}}"};
  const auto read = ReadExperimentDocument(document.dump(), "/srv");
  ASSERT_TRUE(read.ok()) << read.status();
  const std::vector<ParameterSpec>& parameters = read->spec.space.parameters;
  EXPECT_EQ(std::get<QUniform>(parameters[0].domain).q, 0.3);
  EXPECT_EQ(std::get<QRandInt>(parameters[2].domain).q, 3);
  EXPECT_THAT(std::get<GridValues>(parameters[6].domain).values, ElementsAre("1e-05", "1e-04"));
  EXPECT_EQ(std::get<Constant>(parameters[7].domain).value, R"([1,2.5,"x"])");
  EXPECT_EQ(std::get<Constant>(parameters[8].domain).value, "null");
  EXPECT_THAT(std::get<Choice>(parameters[9].domain).values,
              ElementsAre("\"sgd\"", R"({"name":"adam","beta":1})", "true", "16", "16.0"));
  ASSERT_EQ(parameters[10].when.size(), 1u);
  EXPECT_EQ(parameters[10].when[0].parameter, "j");
  EXPECT_THAT(parameters[10].when[0].values, ElementsAre("\"sgd\"", "16"));
}

TEST(SpecJson, ReadsPointsInTheOrderOfTheSpaceWithConstantsFilledIn) {
  Json document = Json::parse(kBertAsha);
  document["space"] =
      Json::parse(R"({"lr": {"uniform": [0, 1]}, "model": "bert", "n": {"randint": [0, 4]}})");
  document["trial"]["command"] = {"run"};
  document["searcher"] = Json::parse(R"({"points": [{"n": 3, "lr": 1}], "initial_points": []})");
  const auto read = ReadExperimentDocument(document.dump(), "/srv");
  ASSERT_TRUE(read.ok()) << read.status();
  const auto searcher = MakeSearcher(read->spec.searcher, read->spec.space, read->spec.seed);
  ASSERT_TRUE(searcher.ok()) << searcher.status();
  EXPECT_EQ((*searcher)->Suggest({0})->ToJson(), R"({"lr":1.0,"model":"bert","n":3})");
  EXPECT_EQ((*searcher)->Suggest({1}), std::nullopt);
}

TEST(SpecJson, ADocumentWithoutATrialNeedsNoFolder) {
  EXPECT_TRUE(ReadExperimentDocument(With("/trial", ""), "").ok());
}

struct Refusal {
  const char* pointer;
  const char* json;  ///< empty: removed
  const char* message;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.pointer; }
};

class SpecJsonRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(SpecJsonRefusal, NamesThePlaceWhatWasFoundAndWhatIsAllowed) {
  EXPECT_EQ(ErrorOf(With(GetParam().pointer, GetParam().json)), GetParam().message);
}

const Refusal kRefusals[] = {
    // Keys and types.
    {"/metrc", "1",
     "metrc: unknown key, did you mean \"metric\"? Allowed: version, name, metric, goal, best_by, "
     "seed, space, searcher, scheduler, limits, trial, priority, owner"},
    {"/scheduler/fifo", "{}",
     R"(scheduler: must be one of {"fifo": {}}, {"asha": …}, {"hyperband": …}, {"median": …}, )"
     R"(found {"asha":{"max_t":100,"grace_period":10,"reduction_factor":3}…)"},
    {"/scheduler", R"({"fifo": {"x": 1}})", "scheduler.fifo.x: unknown key. Allowed: none"},
    {"/version", "2", "version: must be an integer from 1 to 1, found 2"},
    {"/metric", "", "metric: missing, must be the name of the metric to optimise"},
    {"/metric", R"("lo\u0007ss")",
     "metric: must be a name without control characters, found \"lo\\u0007ss\""},
    {"/metric", R"("")", "metric: must be text of 1 to 256 bytes without a NUL byte, found \"\""},
    {"/goal", R"("maximise")",
     "goal: must be one of minimize, maximize, found \"maximise\", did you mean \"maximize\"?"},
    {"/goal", "true", "goal: must be one of minimize, maximize, found true"},
    {"/seed", "7.0", "seed: must be a 64-bit integer, found 7.0"},
    {"/seed", "18446744073709551615", "seed: must be a 64-bit integer, found 18446744073709551615"},
    {"/priority", R"("high")",
     "priority: must be an integer from -1000000 to 1000000, found \"high\""},
    // The space.
    {"/space", "[]", "space: must be an object of parameters, found []"},
    {"/space/lr/loguniform/0", "0", "space.lr.loguniform[0]: must be > 0, found 0"},
    {"/space/lr/loguniform", "[1e-3, 1e-5]",
     "space.lr.loguniform: must be [low, high] with low < high, found [0.001,1e-05]"},
    {"/space/lr/loguniform", "[1e-3]", "space.lr.loguniform: must be [low, high], found [0.001]"},
    {"/space/lr/loguniform", "[-3, 1]", "space.lr.loguniform[0]: must be > 0, found -3"},
    {"/space/lr", R"({"lograndint": [0, 9]})",
     "space.lr.lograndint[0]: must be an integer from 1 to 9223372036854775807, found 0"},
    {"/space/lr", R"({"qloguniform": [0, 9, 1]})", "space.lr.qloguniform[0]: must be > 0, found 0"},
    {"/space/lr", R"({"quniform": [0, 9, 0]})", "space.lr.quniform[2]: must be > 0, found 0"},
    {"/space/lr", R"({"qrandint": [0, 9, -1]})",
     "space.lr.qrandint[2]: must be an integer from 1 to 9223372036854775807, found -1"},
    {"/space/lr", R"({"normal": [0, 0]})", "space.lr.normal[1]: must be > 0, found 0"},
    {"/space/weight_decay/uniform", "[1, 1]",
     "space.weight_decay.uniform: must be [low, high] with low < high, found [1,1]"},
    {"/space/weight_decay/uniform/1", R"("1")",
     "space.weight_decay.uniform[1]: must be a number, found \"1\""},
    {"/space/weight_decay/uniform", "[-1.7e308, 1.7e308]",
     "space.weight_decay.uniform: must be a range whose width is a finite double, found "
     "[-1.7e+308,1.7e+308]"},
    {"/space/warmup_steps/randint/0", "16.0",
     "space.warmup_steps.randint[0]: must be a 64-bit integer, found 16.0"},
    {"/space/batch_size/choice", "[]",
     "space.batch_size.choice: must be an array of at least 1 value, found []"},
    {"/space/batch_size/choice/1", "16",
     "space.batch_size.choice[1]: must be given once, found 16"},
    {"/space/lr", R"({"logunifrom": [1, 2]})",
     "space.lr.logunifrom: unknown key, did you mean \"loguniform\"? Allowed: uniform, quniform, "
     "loguniform, qloguniform, randint, qrandint, lograndint, normal, lognormal, choice, grid, "
     "when"},
    {"/space/lr", "{}",
     R"(space.lr: must be a form such as {"uniform": [0.0, 1.0]}, or a scalar or an array, )"
     "found {}"},
    {"/space/lr/uniform", "[0, 1]",
     R"(space.lr: must be one form, not both "uniform" and "loguniform", found )"
     R"({"loguniform":[1e-06,1e-04],"uniform":[0,1]})"},
    {"/space/lr/when", R"({"bach_size": [16]})",
     "space.lr.when.bach_size: no parameter of the space, did you mean \"batch_size\"? "
     "Parameters: lr, batch_size, warmup_steps, weight_decay"},
    {"/space/lr/when", R"({"batch_size": [17]})",
     "space.lr.when.batch_size[0]: must be one of 16, 32, 64, found 17"},
    {"/space/lr/when", R"({"lr": [1e-5]})",
     "space.lr.when: must not lead back to a parameter that waits for this one, found a cycle"},
    {"/space", R"({"lr": 1, "batch_size": 2, "z": {"when": {"a": [1]}, "choice": [1, 2]},
                   "a": {"when": {"b": [1]}, "choice": [1, 2]},
                   "b": {"when": {"c": [1]}, "choice": [1, 2]},
                   "c": {"when": {"a": [1]}, "choice": [1, 2]}})",
     "space.a.when: must not lead back to a parameter that waits for this one, found a cycle"},
    {"/space/lr/when", R"({"warmup_steps": [500, 2000]})",
     "space.lr.when.warmup_steps[1]: must be an integer from 500 to 1999, found 2000"},
    {"/space/lr/when", R"({"warmup_steps": [500.0]})",
     "space.lr.when.warmup_steps[0]: must be an integer from 500 to 1999, found 500.0"},
    {"/space/lr/when", R"({"weight_decay": ["0.05"]})",
     "space.lr.when.weight_decay[0]: must be a number from 0.0 to 0.1, found \"0.05\""},
    {"/space/lr/when", "{}",
     R"(space.lr.when: must be an object such as {"optimizer": ["sgd"]}, found {})"},
    {"/space/lr/when", R"({"batch_size": []})",
     "space.lr.when.batch_size: must be an array of at least 1 value, found []"},
    // A double that no draw gives: 0.1 + 0.1 + 0.1.
    {"/space", R"({"lr": 1, "batch_size": 2, "x": {"quniform": [0, 1, 0.1]},
                   "y.z": {"when": {"x": [0.3, 0.30000000000000004]}, "uniform": [0, 1]}})",
     R"(space["y.z"].when.x[1]: must be 0.0 plus a multiple of 0.1, at most 1.0, found )"
     "0.30000000000000004"},
    {"/name", R"("12.3")",
     "name: must be a text that is not digits and points alone, which is what an id looks like, "
     "found \"12.3\""},
    {"/name", R"("12")",
     "name: must be a text that is not digits and points alone, which is what an id looks like, "
     "found \"12\""},
    // The searcher.
    {"/searcher", "7", "searcher: must be an object, found 7"},
    {"/searcher", "{}",
     R"(searcher: must be one of {"random": …}, {"sobol": …}, {"grid": …}, {"points": …}, )"
     "found {}"},
    {"/searcher/random/trials", "1000001",
     "searcher.random.trials: must be an integer from 1 to 1000000, found 1000001"},
    {"/searcher", R"({"random": {"trails": 3}})",
     "searcher.random.trails: unknown key, did you mean \"trials\"? Allowed: trials, "
     "initial_points"},
    {"/searcher", R"({"grid": {"points": {"lr": 0}}})",
     "searcher.grid.points.lr: must be an integer from 1 to 1000000, found 0"},
    {"/searcher", R"({"points": []})",
     "searcher.points: must be an array of at least 1 configuration, found []"},
    {"/searcher", R"({"points": [{"lr": 1e-5, "batch_size": 16, "warmup_steps": 500,
                                  "weight_decay": 0, "momentum": 0.9}]})",
     "searcher.points[0].momentum: no parameter of the space. Parameters: lr, batch_size, "
     "warmup_steps, weight_decay"},
    {"/searcher", R"({"points": [{"lr": 1e-5, "batch_size": 17}]})",
     "searcher.points[0].batch_size: must be one of 16, 32, 64, found 17"},
    {"/searcher", "",
     "searcher: missing, must be an object such as {\"random\": {\"trials\": 27}}"},
    {"/searcher/random/trials", "0",
     "searcher.random.trials: must be an integer from 1 to 1000000, found 0"},
    {"/searcher", R"({"sobol": {}})",
     "searcher.sobol.trials: missing, must be the number of trials"},
    {"/searcher", R"({"sobol": {"trials": 1.5}})",
     "searcher.sobol.trials: must be an integer from 1 to 1000000, found 1.5"},
    {"/searcher", R"({"sobol": {"trials": 8, "scramble": true}})",
     "searcher.sobol.scramble: unknown key. Allowed: trials, initial_points"},
    {"/searcher", R"({"sobol": {"trials": 8}, "random": {"trials": 8}})",
     R"(searcher: must be one of {"random": …}, {"sobol": …}, {"grid": …}, {"points": …}, found )"
     R"({"sobol":{"trials":8},"random":{"trials":8}})"},
    {"/searcher", R"({"tpe": {}})", "searcher.tpe: \"tpe\" comes with a later version"},
    {"/searcher", R"({"grid": {"points": {"wd": 3}}})",
     "searcher.grid.points.wd: no parameter of the space. Parameters: lr, batch_size, "
     "warmup_steps, weight_decay"},
    {"/searcher", R"({"grid": {"order": "random"}})",
     "searcher.grid.order: must be one of shuffled, listed, found \"random\""},
    {"/searcher", R"({"points": [{"lr": 1e-5}]})",
     "searcher.points[0].batch_size: missing, every parameter that applies must be given"},
    {"/searcher", R"({"points": [{"lr": 1}]})",
     "searcher.points[0].lr: must be a number from 1e-06 to 1e-04, found 1"},
    {"/searcher/random/initial_points", R"([{"warmup_steps": 2000}])",
     "searcher.random.initial_points[0].warmup_steps: must be an integer from 500 to 1999, found "
     "2000"},
    {"/searcher/initial_points", R"([{"warmup_steps": 2000}])",
     "searcher.initial_points[0].warmup_steps: must be an integer from 500 to 1999, found 2000"},
    {"/searcher", R"({"points": [7]})",
     "searcher.points[0]: must be an object of parameters, found 7"},
    // The scheduler.
    {"/scheduler", R"({"hyperband": {}})",
     "scheduler.hyperband.max_t: missing, must be a number of steps, at least 1"},
    {"/scheduler", R"({"hyperband": {"brackets": 2}})",
     "scheduler.hyperband.brackets: unknown key. Allowed: max_t, grace_period, reduction_factor, "
     "variant, cut, min_rivals, non_finite"},
    {"/scheduler", R"({"pbt": {}})", "scheduler.pbt: \"pbt\" comes with a later version"},
    {"/scheduler", R"({"median": {}})",
     "scheduler.median.grace_period: missing, must be a number of steps, at least 1"},
    {"/scheduler", R"({"median": {"grace_period": 0}})",
     "scheduler.median.grace_period: must be an integer from 1 to 1000000000000, found 0"},
    {"/scheduler", R"({"median": {"grace_period": 5, "min_rivals": 0}})",
     "scheduler.median.min_rivals: must be an integer from 1 to 1000000000, found 0"},
    {"/scheduler", R"({"median": {"grace_period": 5, "max_t": 4}})",
     "scheduler.median.grace_period: must be at most max_t, which is 4, found 5"},
    {"/scheduler", R"({"median": {"grace_period": 5, "reduction_factor": 3}})",
     "scheduler.median.reduction_factor: unknown key. Allowed: grace_period, min_rivals, max_t"},
    {"/scheduler", R"({"ahsa": {}})",
     "scheduler.ahsa: unknown key, did you mean \"asha\"? Allowed: fifo, asha, hyperband, median"},
    {"/scheduler/asha/reduction_factor", "1.5",
     "scheduler.asha.reduction_factor: must be an integer from 2 to 1000000, found 1.5"},
    {"/scheduler/asha/reduction_factor", "1",
     "scheduler.asha.reduction_factor: must be an integer from 2 to 1000000, found 1"},
    {"/scheduler/asha/reduction_factor", "3.0",
     "scheduler.asha.reduction_factor: must be an integer from 2 to 1000000, found 3.0"},
    {"/scheduler/asha/reduction_factor", "",
     "scheduler.asha.reduction_factor: missing, must be an integer, at least 2"},
    {"/scheduler/asha/max_t", "0",
     "scheduler.asha.max_t: must be an integer from 1 to 1000000000000, found 0"},
    {"/scheduler/asha/grace_period", "0",
     "scheduler.asha.grace_period: must be an integer from 1 to 1000000000000, found 0"},
    {"/scheduler/asha/brackets", "0",
     "scheduler.asha.brackets: must be an integer from 1 to 4, found 0"},
    {"/scheduler/asha/variant", R"("stoping")",
     "scheduler.asha.variant: must be one of stopping, promotion, found \"stoping\", did you mean "
     "\"stopping\"?"},
    {"/scheduler/asha/min_rivals", "-1",
     "scheduler.asha.min_rivals: must be an integer from 0 to 1000000000, found -1"},
    {"/scheduler/asha/non_finite", R"("drop")",
     "scheduler.asha.non_finite: must be one of stop, worst, ignore, found \"drop\", did you mean "
     "\"stop\"?"},
    {"/scheduler", "[]", "scheduler: must be an object, found []"},
    {"/scheduler/asha/grace_period", "101",
     "scheduler.asha.grace_period: must be at most max_t, which is 100, found 101"},
    {"/scheduler/asha/max_t", "",
     "scheduler.asha.max_t: missing, must be a number of steps, at least 1"},
    {"/scheduler/asha/brackets", "5",  // levels 10, 30, 90
     "scheduler.asha.brackets: must be an integer from 1 to 4, found 5"},
    {"/scheduler/asha/cut", R"("median")",
     "scheduler.asha.cut: must be one of quantile, top, found \"median\""},
    {"/scheduler/asha/variant", R"("promotion")",
     "scheduler.asha.variant: must be \"stopping\" unless trial.resumable is true (a promoted "
     "trial goes on from its checkpoint), found \"promotion\""},
    {"/best_by", R"("max")",
     "best_by: must be one of best, last, max_t, found \"max\", did you mean \"max_t\"?"},
    // The trial.
    {"/trial/command", "", "trial.command: missing, must be an array of arguments"},
    {"/trial/command", R"("python3 train.py")",
     R"(trial.command: must be an array of at least 1 argument (no shell: ["python3", )"
     R"("train.py"]), found "python3 train.py")"},
    {"/trial/command/3", R"("{lrr}")",
     "trial.command[3]: placeholder {lrr} is no parameter of the space, did you mean "
     "\"lr\"? Parameters: lr, batch_size, warmup_steps, weight_decay; a brace is written {{ or }}"},
    {"/trial/command/3", R"("{lr")",
     "trial.command[3]: must not hold a single {. Parameters: lr, batch_size, warmup_steps, "
     "weight_decay; a brace is written {{ or }}"},
    {"/trial/working_dir", R"("bert")",
     "trial.working_dir: must be an absolute path, found \"bert\""},
    {"/trial/processes", "0", "trial.processes: must be an integer from 1 to 1024, found 0"},
    {"/trial/processes", "2.0", "trial.processes: must be an integer from 1 to 1024, found 2.0"},
    {"/trial/per_process/memory", R"("8G")",
     "trial.per_process.memory: must be a size such as \"512MiB\" or \"8GiB\", found \"8G\""},
    {"/trial/per_process/cpus", "0",
     "trial.per_process.cpus: must be a number > 0 and <= 4096, found 0"},
    {"/trial/per_process/gpu_memory", R"("8GiB")",
     "trial.per_process.gpu_memory: \"gpu_memory\" comes with a later version"},
    {"/trial/grace", "30",
     "trial.grace: must be a duration such as \"500ms\", \"30s\", \"10m\" or \"4h\", at most "
     "\"10000d\", found 30"},
    {"/trial/reduce", R"("sum")",
     "trial.reduce: must be one of rank0, mean, min, max, found \"sum\""},
    {"/trial/env", R"({"RANK": "0"})", "trial.env.RANK: is set by rung itself, must be left out"},
    {"/trial/comand", "[]",
     "trial.comand: unknown key, did you mean \"command\"? Allowed: command, working_dir, env, "
     "processes, per_process, reduce, resumable, checkpoint_root, grace, failure_grace, "
     "finish_grace, max_failures, max_losses"},
    {"/limits", R"({"gpu_hours": -1})",
     "limits.gpu_hours: must be a number > 0 and <= 1000000000, found -1"},
};

INSTANTIATE_TEST_SUITE_P(Documents, SpecJsonRefusal, ::testing::ValuesIn(kRefusals));

TEST(SpecJson, WhatComesLaterIsUnimplementedAndWhatIsWrongIsInvalid) {
  EXPECT_EQ(ReadExperimentDocument(With("/searcher", R"({"tpe": {}})"), "/srv").status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ReadExperimentDocument(With("/goal", "1"), "/srv").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SpecJson, RefusesEveryVariableThatRungSetsExceptTheNumberOfThreads) {
  std::ifstream file(std::string(RUNG_SOURCE_DIR) + "/docs/trials.md");
  size_t ours = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `RUNG_") && !line.starts_with("| `RANK`")) continue;
    const std::string names = line.substr(0, line.find('|', 1));
    const std::regex name("`([A-Z_]+)`");
    for (std::sregex_iterator it(names.begin(), names.end(), name), end; it != end; ++it) {
      const std::string variable = (*it)[1];
      const std::string error = ErrorOf(With("/trial/env/" + variable, R"("1")"));
      if (variable == "OMP_NUM_THREADS") {
        EXPECT_EQ(error, "accepted");
      } else {
        EXPECT_EQ(error, "trial.env." + variable + ": is set by rung itself, must be left out");
        ++ours;
      }
    }
  }
  EXPECT_EQ(ours, 22U);  // 10 of rung's own and 12 of torchrun's
}

TEST(SpecJson, RefusesATrialWithoutAFolder) {
  EXPECT_EQ(ReadExperimentDocument(kBertAsha, "").status().message(),
            "trial.working_dir: missing, must be the absolute path of the folder in which the "
            "command is started");
}

TEST(SpecJson, RefusesBestByMaxTWithoutAMaxT) {
  Json document = Json::parse(kBertAsha);
  document["scheduler"] = Json::parse(R"({"fifo": {}})");
  document["best_by"] = "max_t";
  EXPECT_EQ(ErrorOf(document.dump()),
            "best_by: must be best or last where the scheduler has no max_t, found \"max_t\"");
  document["scheduler"] = Json::parse(R"({"median": {"grace_period": 1}})");
  EXPECT_THAT(ErrorOf(document.dump()), HasSubstr("where the scheduler has no max_t"));
  document["scheduler"]["median"]["max_t"] = 9;
  EXPECT_EQ(ErrorOf(document.dump()), "accepted");
}

TEST(SpecJson, RefusesWhatIsNoObject) {
  EXPECT_EQ(ErrorOf("[]"), "the document: must be an object, found []");
  EXPECT_EQ(ErrorOf("null"), "the document: must be an object, found null");
}

TEST(SpecJson, EveryCutOfTheExampleIsRefusedWithLineAndColumn) {
  for (size_t length = 0; length < kBertAsha.size(); ++length) {
    EXPECT_THAT(ErrorOf(std::string(kBertAsha.substr(0, length))),
                HasSubstr("the document is not JSON: line "));
  }
}

}  // namespace
}  // namespace rung
