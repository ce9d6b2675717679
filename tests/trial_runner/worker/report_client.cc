// report_client LINE…: a trial's side of RUNG_SOCKET. Sends each line and prints its answer.
// `--no-wait` before the lines: sends them all and ends without reading anything.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

int main(int argc, char** argv) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, std::getenv("RUNG_SOCKET"), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 10;
  const bool wait = argc < 2 || std::strcmp(argv[1], "--no-wait") != 0;
  for (int i = wait ? 1 : 2; i < argc; ++i) {
    const std::string line = std::string(argv[i]) + "\n";
    if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 11;
    for (char c = 0; wait && c != '\n';) {
      if (read(fd, &c, 1) != 1) return 12;
      std::putchar(c);
    }
    std::fflush(stdout);
  }
  return 0;
}
