#include "trial_runner/training/autocast.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace rung::training {
namespace {

at::ScalarType ProductType() { return at::mm(at::ones({2, 2}), at::ones({2, 2})).scalar_type(); }

TEST(Bf16Autocast, MatrixProductsAreBfloat16InsideOnly) {
  EXPECT_EQ(ProductType(), at::kFloat);
  {
    const Bf16Autocast outer(at::kCPU, true);
    EXPECT_EQ(ProductType(), at::kBFloat16);
    {
      const Bf16Autocast inner(at::kCPU, true);
      EXPECT_EQ(ProductType(), at::kBFloat16);
    }
    EXPECT_EQ(ProductType(), at::kBFloat16);
  }
  EXPECT_EQ(ProductType(), at::kFloat);
}

TEST(Bf16Autocast, DisabledItDoesNothing) {
  const Bf16Autocast scope(at::kCPU, false);
  EXPECT_EQ(ProductType(), at::kFloat);
}

}  // namespace
}  // namespace rung::training
