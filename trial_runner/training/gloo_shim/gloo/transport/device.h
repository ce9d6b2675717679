#pragma once

namespace gloo::transport {

/// Opaque: made and destroyed by libtorch_cpu.so, held here only by smart pointers.
class Device;

class UnboundBuffer {
 public:
  virtual ~UnboundBuffer();
};

}  // namespace gloo::transport
