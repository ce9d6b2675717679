#include "clients/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace rung::cli {

Terminal InspectTerminal(int fd) {
  Terminal terminal;
  if (isatty(fd) == 0) return terminal;
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  terminal.interactive = !dumb;
  terminal.colour = !dumb && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
    terminal.columns = size.ws_col;
    terminal.lines = size.ws_row;
  }
  return terminal;
}

}  // namespace rung::cli
