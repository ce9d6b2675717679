// rung-shim FD FOLDER PROGRAM [ARGUMENT…]: the parent of one rank, started by rung-worker alone.
// FD is the control connection (shim.h), FOLDER the working directory ("": the current one). Other
// descriptors that it inherits it holds to its end.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trial_runner/shim/shim.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("rung-shim " RUNG_VERSION);
    return 0;
  }
  char* end = nullptr;
  const long fd = argc >= 4 ? std::strtol(argv[1], &end, 10) : -1;
  if (fd < 3 || *end != '\0' || fcntl(static_cast<int>(fd), F_GETFD) < 0) {
    std::fputs(
        "usage: rung-shim FD FOLDER PROGRAM [ARGUMENT...]\n"
        "The parent of one rank; rung-worker starts it. FD is an open control connection.\n",
        stderr);
    return 2;
  }
  return rung::Shim(static_cast<int>(fd)).Run(argv[2], argv + 3);
}
