#pragma once

#include <cerrno>

namespace rung {

/// Whether `error` (an errno) says that this machine cannot at the moment, whatever it was asked:
/// no memory, process or descriptor is left, a disk is full or broken, a file server is away.
/// Otherwise what was asked for is missing or wrong.
constexpr bool IsMachineError(int error) {
  switch (error) {
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EDQUOT:
    case EIO:
    case ESTALE:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case EREMOTEIO:
      return true;
    default:
      return false;
  }
}

}  // namespace rung
