#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace bert {

/// A file with given bytes in a folder of its own, removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "bert_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path(), std::ios::binary) << bytes;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "file").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace bert
