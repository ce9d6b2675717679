#pragma once

#include <cstddef>
#include <ostream>

/// Where a verb writes: data on `out`, everything else on `err`.
namespace rung::cli {

/// What one stream can show.
struct Terminal {
  bool interactive = false;  ///< a person watches: lines may be redrawn, progress shown
  bool colour = false;       ///< interactive, and neither NO_COLOR nor TERM=dumb forbids it
  size_t columns = 0;        ///< 0: no limit, as for files and pipes
  size_t lines = 0;          ///< 0: no limit
};

struct Console {
  std::ostream& out;
  std::ostream& err;
  Terminal out_terminal;
  Terminal err_terminal;
};

/// What file descriptor `fd` of this process can show now.
Terminal InspectTerminal(int fd);

}  // namespace rung::cli
