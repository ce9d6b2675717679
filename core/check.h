#pragma once

/// Always-on invariant checks: a failed one is a bug, not a fault of the world, and ends the
/// process.
///
/// `RUNG_CHECK(slots_in_use <= slots_total);` states positively what holds. Whatever input or the
/// operating system can cause is an absl::Status instead.
namespace rung::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace rung::internal

#define RUNG_CHECK(condition)                                        \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::rung::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

/// Returns from the enclosing function if `expression` is a bad status.
#define RUNG_RETURN_IF_ERROR(expression)                                                \
  do {                                                                                  \
    if (absl::Status rung_status = (expression); !rung_status.ok()) return rung_status; \
  } while (false)
