#include "trial_runner/worker/disk_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <memory>
#include <optional>
#include <vector>

namespace rung::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DiskWorkTest : public ::testing::Test {
 protected:
  /// Work that hangs until `released` is set, then notes `number`.
  void RunHanging(const std::string& lane, int number) {
    disk_->Run(lane, [this, number, held = held_] {
      held.wait();
      return [this, number] { done_.push_back(number); };
    });
  }
  void RunQuick(const std::string& lane, int number) {
    disk_->Run(lane, [this, number] { return [this, number] { done_.push_back(number); }; });
  }
  void AwaitDone(size_t count) {
    io_.restart();  // it stops when nothing is left to do
    const auto work = boost::asio::make_work_guard(io_);
    while (done_.size() < count) io_.run_one();
  }

  std::promise<void> released_;
  std::shared_future<void> held_ = released_.get_future().share();
  boost::asio::io_context io_;
  std::optional<DiskWork> disk_{std::in_place, io_};
  std::vector<int> done_;
};

TEST_F(DiskWorkTest, ALaneKeepsItsOrderAndOthersGoOnBesideIt) {
  RunHanging("hangs", 1);
  RunQuick("hangs", 2);
  RunQuick("works", 3);
  AwaitDone(1);
  EXPECT_THAT(done_, ElementsAre(3));
  released_.set_value();
  AwaitDone(3);
  EXPECT_THAT(done_, ElementsAre(3, 1, 2));
}

TEST_F(DiskWorkTest, WhatHangsIsLeftAndPostsNothing) {
  RunHanging("hangs", 1);
  disk_.reset();  // returns
  released_.set_value();
  io_.run();
  EXPECT_THAT(done_, IsEmpty());
}

TEST_F(DiskWorkTest, TooMuchIsRefused) {
  RunHanging("hangs", 0);
  size_t taken = 0;
  // One is in hand, or about to be: the others wait.
  while (taken <= DiskWork::kWaitingMax && disk_->Run("hangs", [] { return [] {}; })) ++taken;
  EXPECT_LE(taken, DiskWork::kWaitingMax);
  EXPECT_GE(taken, DiskWork::kWaitingMax - 1);
  released_.set_value();
}

}  // namespace
}  // namespace rung::worker
