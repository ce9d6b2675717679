#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

/// File work that takes as long as a disk does, off the thread of the loop.
///
/// The work of one lane is done in the order in which it came, one piece at a time; lanes go on
/// beside each other. A disk that hangs holds the lanes that use it, and no other.
namespace rung::worker {

class DiskWork {
 public:
  static constexpr size_t kThreads = 8;
  static constexpr size_t kWaitingMax = 4'096;

  /// What is done with the result, on the io_context.
  using Then = std::function<void()>;
  /// May outlive this object, when it hangs: it holds values and refers to nothing.
  using Work = std::function<Then()>;

  /// `io` outlives this object.
  explicit DiskWork(boost::asio::io_context& io);
  /// Returns when what is in hand is done, or after 2 s: what hangs longer is left to itself.
  ~DiskWork();
  DiskWork(const DiskWork&) = delete;
  DiskWork& operator=(const DiskWork&) = delete;

  /// False, and the work is not done, while kWaitingMax pieces wait.
  bool Run(const std::string& lane, Work work);

 private:
  struct Shared;
  static void Serve(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  ///< with threads, of which some may hang for ever
};

}  // namespace rung::worker
