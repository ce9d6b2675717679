// rung-shim FD LIMIT FOLDER PROGRAM [ARGUMENT…]: the parent of one rank, started by rung-worker
// alone. FD is the control connection (shim.h), LIMIT the rank's soft limit of open descriptors (0:
// this process's own), FOLDER the working directory ("": the current one). Other descriptors that
// it inherits it holds to its end.

#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trial_runner/shim/shim.h"

namespace {

/// −1 for what is no number.
long Number(const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return end == text || *end != '\0' ? -1 : number;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("rung-shim " RUNG_VERSION);
    return 0;
  }
  const long fd = argc >= 5 ? Number(argv[1]) : -1;
  const long limit = argc >= 5 ? Number(argv[2]) : -1;
  if (fd < 3 || limit < 0 || fcntl(static_cast<int>(fd), F_GETFD) < 0) {
    std::fputs(
        "usage: rung-shim FD LIMIT FOLDER PROGRAM [ARGUMENT...]\n"
        "The parent of one rank; rung-worker starts it. FD is an open control connection.\n",
        stderr);
    return 2;
  }
  return rung::Shim(static_cast<int>(fd), limit).Run(argv[3], argv + 4);
}
