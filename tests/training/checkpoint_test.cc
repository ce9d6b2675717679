#include "trial_runner/training/checkpoint.h"

#include <ATen/Functions.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdio>
#include <fstream>

#include "tests/training/gang.h"
#include "tests/training/matrix.h"
#include "trial_runner/training/adamw.h"
#include "trial_runner/training/data_parallel.h"

namespace rung::training {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::unique_ptr<ProcessGroup> Alone() {
  return ProcessGroup::Connect({}, {.device = ProcessGroup::DeviceChoice::kCpu});
}

at::Tensor Filled(at::IntArrayRef shape, double value) {
  return at::full(shape, value, at::TensorOptions(at::kFloat));
}

TEST(Checkpoint, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const auto group = Alone();
  const std::vector<NamedTensor> written = {
      {"a", Filled({2, 3}, 1.5)},
      {"empty", Filled({0}, 0)},
      {"scalar", at::full({}, 7, at::TensorOptions(at::kLong))},
      {"half", Filled({5}, 0.5).to(at::kBFloat16)},
      {"transposed", at::arange(6, at::kFloat).reshape({2, 3}).t()}};
  const Progress progress{.step = 12, .updates = 340, .sampler = {.epoch = 2, .index = 5}};
  const fs::path path = SaveCheckpoint(*group, folder.path() / "new", progress, written);
  EXPECT_EQ(path, folder.path() / "new" / "step-12");
  std::vector<NamedTensor> read;
  for (const NamedTensor& named : written) {
    read.push_back({named.name, at::zeros_like(named.tensor)});
  }
  EXPECT_EQ(LoadCheckpoint(*group, path, read), progress);
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_TRUE(at::equal(read[i].tensor, written[i].tensor)) << read[i].name;
  }
}

TEST(Checkpoint, SameStepIsReplacedAndLeftoversAreSwept) {
  const TemporaryFolder folder;
  const auto group = Alone();
  fs::create_directory(folder.path() / ".tmp-step-3");
  std::ofstream(folder.path() / ".tmp-step-3" / "state.safetensors") << "cut off";
  SaveCheckpoint(*group, folder.path(), {.step = 4}, {{NamedTensor{"a", Filled({1}, 1)}}});
  SaveCheckpoint(*group, folder.path(), {.step = 4}, {{NamedTensor{"a", Filled({1}, 2)}}});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("step-4"));
  const std::vector<NamedTensor> read = {{"a", Filled({1}, 0)}};
  LoadCheckpoint(*group, folder.path() / "step-4", read);
  EXPECT_EQ(read[0].tensor.item<float>(), 2);
}

TEST(Checkpoint, DamageIsFoundBeforeAnythingIsOverwritten) {
  const TemporaryFolder folder;
  const auto group = Alone();
  const std::vector<NamedTensor> tensors = {{"a", Filled({64}, 1)}, {"b", Filled({64}, 2)}};
  const fs::path path = SaveCheckpoint(*group, folder.path(), {.step = 1}, tensors);
  const fs::path file = path / "state.safetensors";
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  std::fstream(file, std::ios::in | std::ios::out).seekp(size - 5).put('x');
  const std::vector<NamedTensor> read = {{"a", Filled({64}, 0)}, {"b", Filled({64}, 0)}};
  EXPECT_THAT([&] { LoadCheckpoint(*group, path, read); },
              ThrowsMessage<TrainingError>(HasSubstr("'b' in")));
  EXPECT_EQ(read[0].tensor[0].item<float>(), 0);
  fs::resize_file(file, static_cast<std::uintmax_t>(size - 40));
  EXPECT_THAT([&] { LoadCheckpoint(*group, path, read); },
              ThrowsMessage<TrainingError>(HasSubstr("is cut off")));
  fs::resize_file(file, 20);
  EXPECT_THROW(LoadCheckpoint(*group, path, read), TrainingError);
  fs::remove(file);
  EXPECT_THAT([&] { LoadCheckpoint(*group, path, read); },
              ThrowsMessage<TrainingError>(HasSubstr("cannot open")));
}

TEST(Checkpoint, AnotherModelIsRefusedWithTheTensorsName) {
  const TemporaryFolder folder;
  const auto group = Alone();
  const fs::path path =
      SaveCheckpoint(*group, folder.path(), {.step = 1},
                     std::vector<NamedTensor>{{"a", Filled({2}, 1)}, {"b", Filled({2}, 1)}});
  const auto load = [&](const std::vector<NamedTensor>& tensors) {
    return [&group, &path, tensors] { LoadCheckpoint(*group, path, tensors); };
  };
  EXPECT_THAT(load({{"a", Filled({2}, 0)}}),
              ThrowsMessage<TrainingError>(HasSubstr("this model has no 'b'")));
  EXPECT_THAT(load({{"a", Filled({2}, 0)}, {"b", Filled({2}, 0)}, {"c", Filled({2}, 0)}}),
              ThrowsMessage<TrainingError>(HasSubstr("the checkpoint has no 'c'")));
  EXPECT_THAT(load({{"a", Filled({2}, 0)}, {"b", Filled({3}, 0)}}),
              ThrowsMessage<TrainingError>(HasSubstr("'b' is F32[2], this model's is F32[3]")));
}

TEST(Checkpoint, UnwritableFolderIsAnError) {
  const auto group = Alone();
  const std::vector<NamedTensor> tensors = {{"a", Filled({1}, 1)}};
  EXPECT_THROW(SaveCheckpoint(*group, "", {}, tensors), TrainingError);
  EXPECT_THROW(SaveCheckpoint(*group, "/proc/nowhere", {}, tensors), TrainingError);
}

/// Rank program: trains steps up to `last`, resuming from `resume` if set; saves after step 5;
/// writes its parameters' bytes to OUT.
int TrainAndResume(const nlohmann::json& arguments) {
  const auto group = ProcessGroup::Connect(
      RankEnvironment::FromEnvironment(),
      {.device = ProcessGroup::DeviceChoice::kCpu, .timeout = std::chrono::seconds(120)});
  const fs::path out = arguments.at("out").get<std::string>();
  const Perceptron model(group->device(), 1, false);
  AdamW optimizer(DecayMatricesOnly(model.parameters(), 0.1), {.learning_rate = 1e-3},
                  {.warmup_steps = 3, .total_steps = 12});
  BatchSampler sampler({.sample_count = 100,
                        .global_batch = 32,
                        .seed = 3,
                        .rank = group->rank(),
                        .world_size = group->world_size()});
  std::vector<NamedTensor> state = model.parameters();
  for (NamedTensor& named : optimizer.State()) state.push_back(std::move(named));
  Progress progress;
  if (arguments.contains("resume")) {
    progress = LoadCheckpoint(*group, arguments.at("resume").get<std::string>(), state);
    sampler.Seek(progress.sampler);
    optimizer.set_steps(progress.updates);
  }
  DataParallel trainer(*group, model.parameters(), {});
  while (progress.step < 10) {
    const Batch batch = sampler.Next();
    trainer.Step({{batch.local_count(), [&] { return model.LossSum(batch.indices); }}},
                 [&] { optimizer.Step(); });
    progress = {progress.step + 1, optimizer.steps(), sampler.position()};
    if (progress.step == 5) SaveCheckpoint(*group, out, progress, state);
  }
  std::ofstream file(out / ("end." + std::to_string(group->rank())), std::ios::binary);
  for (const NamedTensor& named : model.parameters()) {
    file.write(static_cast<const char*>(named.tensor.const_data_ptr()),
               static_cast<std::streamsize>(named.tensor.nbytes()));
  }
  group->Shutdown();
  return 0;
}

[[maybe_unused]] const bool kTrainAndResume = RegisterRankProgram("resume", TrainAndResume);

TEST(Checkpoint, ResumedGangEndsWithTheBitsOfAnUninterruptedOne) {
  const TemporaryFolder whole;
  Gang uninterrupted("resume", 2, {{"out", whole.path().string()}});
  for (const RankEnd& end : uninterrupted.WaitAll()) ASSERT_EQ(end.status, 0) << end.error;
  const TemporaryFolder second;
  Gang resumed("resume", 2,
               {{"out", second.path().string()}, {"resume", (whole.path() / "step-5").string()}});
  for (const RankEnd& end : resumed.WaitAll()) ASSERT_EQ(end.status, 0) << end.error;
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(ReadOutcome(second.path(), "end", rank), ReadOutcome(whole.path(), "end", 0));
  }
}

/// Rank program: saves 2 MB checkpoints as fast as it can, each filled with its step's number, and
/// prints the step after each.
int SaveForever(const nlohmann::json& arguments) {
  const auto group = Alone();
  const fs::path folder = arguments.at("out").get<std::string>();
  for (std::int64_t step = 1;; ++step) {
    const std::vector<NamedTensor> tensors = {{"a", Filled({1 << 18}, static_cast<double>(step))},
                                              {"b", Filled({1 << 18}, static_cast<double>(step))}};
    SaveCheckpoint(*group, folder, {.step = step}, tensors);
    if (step > 3) fs::remove_all(folder / ("step-" + std::to_string(step - 3)));
    std::printf("%lld\n", static_cast<long long>(step));
    std::fflush(stdout);
  }
}

[[maybe_unused]] const bool kSaveForever = RegisterRankProgram("save", SaveForever);

TEST(Checkpoint, KilledAtAnyMomentEveryCheckpointIsWhole) {
  const auto group = Alone();
  for (int kill = 0; kill < 20; ++kill) {
    const TemporaryFolder folder;
    Gang gang("save", 1, {{"out", folder.path().string()}});
    while (gang.Output(0).empty()) ::poll(nullptr, 0, 1);
    ::poll(nullptr, 0, 7 * kill % 11);  // the moment varies; nothing depends on it
    gang.Kill(0);
    const RankEnd end = gang.Wait(0);
    ASSERT_EQ(end.status, 128 + SIGKILL) << end.error;
    std::int64_t newest = 0;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (!entry.path().filename().native().starts_with("step-")) continue;
      const std::vector<NamedTensor> read = {{"a", Filled({1 << 18}, 0)},
                                             {"b", Filled({1 << 18}, 0)}};
      // The killed process may have been deleting its oldest ones; those do not count.
      if (!fs::exists(entry.path() / "state.safetensors")) continue;
      const Progress progress = LoadCheckpoint(*group, entry.path(), read);
      EXPECT_TRUE(read[0].tensor.eq(progress.step).all().item<bool>());
      EXPECT_TRUE(read[1].tensor.eq(progress.step).all().item<bool>());
      newest = std::max(newest, progress.step);
    }
    const std::string text = end.output.substr(0, end.output.rfind('\n'));
    EXPECT_GE(newest, std::stoll(text.substr(text.rfind('\n') + 1)));  // what it promised is there
  }
}

}  // namespace
}  // namespace rung::training
