#pragma once

#include <chrono>

namespace gloo {

/// Opaque: made and destroyed by libtorch_cpu.so, held here only by shared_ptr.
class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
