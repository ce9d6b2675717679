// ended_main_thread [FIFO]: ignores SIGTERM and ends its main thread while another one runs. /proc
// then shows a zombie, though the process lives; its process id goes to FIFO as a line.

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr unsigned kLifeSeconds = 120;  // a test that fails leaves nothing behind for long

bool MainThreadHasEnded() {
  std::ifstream file("/proc/self/stat");  // of the main thread, whoever reads it
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") Z") == 0;
}

void* LiveOn(void* fifo) {
  while (!MainThreadHasEnded()) usleep(1'000);
  if (fifo != nullptr) {
    const std::string line = std::to_string(getpid()) + "\n";
    const int fd = open(static_cast<const char*>(fifo), O_WRONLY | O_CLOEXEC);
    if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(2);
    close(fd);
  }
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGTERM, SIG_IGN);
  alarm(kLifeSeconds);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, LiveOn, argc > 1 ? argv[1] : nullptr) != 0) return 1;
  pthread_exit(nullptr);
}
