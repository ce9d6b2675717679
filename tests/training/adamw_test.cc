#include "trial_runner/training/adamw.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung::training {
namespace {

using ::testing::DoubleEq;
using ::testing::FloatNear;

NamedTensor Parameter(const char* name, at::IntArrayRef shape, double value) {
  return {name, at::full(shape, value, at::TensorOptions(at::kFloat)).set_requires_grad(true)};
}

void SetGradient(const NamedTensor& parameter, double value) {
  parameter.tensor.mutable_grad() =
      at::full(parameter.tensor.sizes(), value, at::TensorOptions(at::kFloat));
}

float First(const at::Tensor& tensor) { return *tensor.const_data_ptr<float>(); }

TEST(LinearSchedule, WarmsUpThenDecaysToNothing) {
  const LinearSchedule schedule{.warmup_steps = 4, .total_steps = 12};
  EXPECT_THAT(schedule.Factor(0), DoubleEq(0.25));   // (0 + 1) / 4
  EXPECT_THAT(schedule.Factor(3), DoubleEq(1.0));    // (3 + 1) / 4
  EXPECT_THAT(schedule.Factor(4), DoubleEq(1.0));    // (12 - 4) / 8
  EXPECT_THAT(schedule.Factor(10), DoubleEq(0.25));  // (12 - 10) / 8
  EXPECT_THAT(schedule.Factor(12), DoubleEq(0.0));
  EXPECT_THAT(schedule.Factor(13), DoubleEq(0.0));
}

TEST(LinearSchedule, WarmUpMayBeLongerThanTheRun) {
  const LinearSchedule schedule{.warmup_steps = 10, .total_steps = 4};
  EXPECT_THAT(schedule.Factor(3), DoubleEq(0.4));
  EXPECT_THAT(schedule.Factor(10), DoubleEq(0.0));
}

TEST(LinearSchedule, WithoutNumbersTheRateIsConstant) {
  EXPECT_THAT(LinearSchedule().Factor(0), DoubleEq(1.0));
  EXPECT_THAT(LinearSchedule().Factor(1000000), DoubleEq(1.0));
}

TEST(AdamW, DecaysMatricesAndMovesByTheRate) {
  // A constant gradient g has the corrected moments g and g^2, so each update moves by lr g / (|g|
  // + eps), about lr; before that, decay multiplies a matrix by 1 - lr wd = 1 - 0.1 * 0.5 = 0.95.
  const std::vector<NamedTensor> parameters = {Parameter("matrix", {2, 2}, 1),
                                               Parameter("bias", {2}, 1)};
  AdamW optimizer(DecayMatricesOnly(parameters, 0.5), {.learning_rate = 0.1});
  for (const NamedTensor& parameter : parameters) SetGradient(parameter, 2);
  optimizer.Step();
  EXPECT_THAT(First(parameters[0].tensor), FloatNear(0.85f, 1e-6f));  // 0.95 - 0.1
  EXPECT_THAT(First(parameters[1].tensor), FloatNear(0.90f, 1e-6f));  // 1 - 0.1
  optimizer.Step();
  EXPECT_THAT(First(parameters[0].tensor), FloatNear(0.7075f, 1e-6f));  // 0.85 * 0.95 - 0.1
  EXPECT_THAT(First(parameters[1].tensor), FloatNear(0.80f, 1e-6f));
  EXPECT_EQ(optimizer.steps(), 2);
}

TEST(AdamW, ParameterWithoutGradientStaysAndKeepsItsOwnCount) {
  const std::vector<NamedTensor> parameters = {Parameter("used", {1, 1}, 1),
                                               Parameter("unused", {1, 1}, 1)};
  AdamW optimizer(DecayMatricesOnly(parameters, 0.5), {.learning_rate = 0.1});
  SetGradient(parameters[0], 2);
  optimizer.Step();
  EXPECT_EQ(First(parameters[1].tensor), 1);
  SetGradient(parameters[1], 2);
  optimizer.Step();  // its first update, with the corrections of a first update
  EXPECT_THAT(First(parameters[1].tensor), FloatNear(0.85f, 1e-6f));
}

TEST(AdamW, TiedTensorIsUpdatedOnce) {
  std::vector<NamedTensor> parameters = {Parameter("a", {1}, 1)};
  parameters.push_back({"b", parameters[0].tensor});
  parameters.push_back({"frozen", at::full({1}, 1, at::TensorOptions(at::kFloat))});
  AdamW optimizer({{parameters, 0}}, {.learning_rate = 0.1});
  SetGradient(parameters[0], 2);
  optimizer.Step();
  EXPECT_THAT(First(parameters[0].tensor), FloatNear(0.9f, 1e-6f));
  const std::vector<NamedTensor> state = optimizer.State();
  ASSERT_EQ(state.size(), 3u);
  EXPECT_EQ(state[0].name, "adamw.m.a");
  EXPECT_EQ(state[1].name, "adamw.v.a");
  EXPECT_EQ(state[2].name, "adamw.t.a");
}

TEST(AdamW, ScheduleSetsTheRate) {
  AdamW optimizer({}, {.learning_rate = 0.1}, {.warmup_steps = 4, .total_steps = 12});
  EXPECT_THAT(optimizer.learning_rate(), DoubleEq(0.025));
  optimizer.set_steps(10);
  EXPECT_THAT(optimizer.learning_rate(), DoubleEq(0.025));
}

TEST(AdamW, NumbersOutOfRangeAreRefused) {
  EXPECT_THROW(AdamW({}, {.learning_rate = 0}), TrainingError);
  EXPECT_THROW(AdamW({}, {.beta1 = 1}), TrainingError);
  EXPECT_THROW(AdamW({}, {.beta2 = -0.1}), TrainingError);
  EXPECT_THROW(AdamW({}, {.epsilon = 0}), TrainingError);
  EXPECT_THROW(AdamW({{{}, -1}}, {}), TrainingError);
  EXPECT_THROW(AdamW({}, {}, {.warmup_steps = -1}), TrainingError);
}

}  // namespace
}  // namespace rung::training
