#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "examples/bert_finetune/corpus.h"
#include "examples/bert_finetune/memory_map.h"

namespace bert {

/// The outputs of the frozen layers for every token of the corpus, computed once and mapped by all
/// trials on this machine.
///
/// A file of one folder: a header (magic, key, size), then for each token of `Rows::tokens`, in
/// their order, `hidden` bfloat16 values. Its name holds the key, a fingerprint of everything that
/// the values depend on, so that a cache of other weights, text or precision is never taken.
class FeatureCache {
 public:
  struct Shape {
    uint64_t key = 0;
    uint64_t tokens = 0;
    uint64_t hidden = 0;
  };
  /// Fills tokens * hidden values. Runs at most once at a time on a machine; its error is returned.
  using Fill = std::function<absl::Status(std::span<uint16_t> values)>;

  /// Maps the file for `shape` in `folder`, made if it is missing. Without such a file takes the
  /// folder's lock, runs `fill` into a temporary file, syncs and renames it; another process that
  /// comes meanwhile waits (at most kLockWait) and takes the result. `cancelled` ends a wait early.
  /// Errors: RESOURCE_EXHAUSTED when the disk is too small, DEADLINE_EXCEEDED, CANCELLED,
  /// PERMISSION_DENIED when the folder cannot be written.
  static absl::StatusOr<FeatureCache> OpenOrBuild(const std::filesystem::path& folder,
                                                  const Shape& shape, const Fill& fill,
                                                  const std::function<bool()>& cancelled);

  /// The features of the row at tokens [begin, begin + length): [length, hidden] bfloat16.
  std::span<const uint16_t> Values(size_t begin, size_t length) const;

  const std::filesystem::path& path() const { return path_; }

 private:
  static absl::StatusOr<FeatureCache> Open(const std::filesystem::path& path, const Shape& shape);

  FeatureCache(std::filesystem::path path, MemoryMap map, size_t hidden)
      : path_(std::move(path)), map_(std::move(map)), hidden_(hidden) {}

  std::filesystem::path path_;
  MemoryMap map_;
  size_t hidden_;
};

}  // namespace bert
