#pragma once

#include <cstddef>
#include <cstdint>

namespace bert {

/// The shape of all-MiniLM-L6-v2, the model that scripts/setup fetches, and of our head on it.
inline constexpr int64_t kLayers = 6;
inline constexpr int64_t kHidden = 384;
inline constexpr int64_t kHeads = 12;
inline constexpr int64_t kIntermediate = 1536;
inline constexpr int64_t kVocabulary = 30522;
inline constexpr int64_t kPositions = 512;
inline constexpr double kLayerNormEpsilon = 1e-12;
inline constexpr int64_t kClasses = 2;

/// Longer rows are cut: 96 % of the text's are not longer, and padding costs time.
inline constexpr size_t kMaxTokens = 48;

}  // namespace bert
