#pragma once

#include <functional>

namespace rung::training {

/// The body of main() of a training program: returns what `body` returns. An exception becomes one
/// line on stderr (without LibTorch's C++ trace) and status 1. After one the process ends by _exit:
/// LibTorch's static destructors may hang while a collective is in flight.
int RunTrial(const std::function<int()>& body) noexcept;

}  // namespace rung::training
