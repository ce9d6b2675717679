#pragma once

#include <cstdint>

/// How many descriptors a process may have open.
namespace rung {

/// Raises this process's soft limit of open descriptors (RLIMIT_NOFILE) to its hard limit, at most
/// 1,048,576: a worker needs about four a rank, and the usual soft limit of 1,024 would end at some
/// 250 ranks. Returns the soft limit as it was: what a rank is to get, since programs that use
/// select() rely on small numbers.
int64_t RaiseDescriptorLimit();

}  // namespace rung
