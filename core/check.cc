#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace rung::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, condition);
  std::abort();
}

}  // namespace rung::internal
