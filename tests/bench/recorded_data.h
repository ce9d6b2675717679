#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "bench/quality_experiment.h"

/// bench/data, read once for all tests.
namespace rung {

inline const std::string kDataFolder = std::string(RUNG_SOURCE_DIR) + "/bench/data";

inline const QualityData& RecordedData() {
  static const QualityData data = [] {
    auto read = QualityData::Read(kDataFolder);
    EXPECT_TRUE(read.ok()) << read.status();
    return *std::move(read);
  }();
  return data;
}

}  // namespace rung
