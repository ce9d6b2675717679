#pragma once

#include <string>

/// Ctrl-C while a command only watches: the command ends, what it watches goes on.
namespace rung::cli {

/// While it lives, SIGINT and SIGTERM print `message` on stderr and end this process by that
/// signal, so that a calling shell sees it. One at a time.
class InterruptNotice {
 public:
  explicit InterruptNotice(const std::string& message);
  ~InterruptNotice();
  InterruptNotice(const InterruptNotice&) = delete;
  InterruptNotice& operator=(const InterruptNotice&) = delete;
};

}  // namespace rung::cli
