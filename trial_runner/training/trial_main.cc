#include "trial_runner/training/trial_main.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace rung::training {
namespace {

[[noreturn]] void EndWith(const char* message) {
  std::fprintf(stderr, "error: %s\n", message);
  std::fflush(nullptr);
  ::_exit(1);
}

}  // namespace

int RunTrial(const std::function<int()>& body) noexcept {
  try {
    return body();
  } catch (const c10::Error& error) {
    EndWith(error.what_without_backtrace());
  } catch (const std::exception& error) {
    EndWith(error.what());
  } catch (...) {
    EndWith("an exception that is no std::exception");
  }
}

}  // namespace rung::training
