#include <array>

#include "clients/cli/verbs/verbs.h"

namespace rung::cli {

std::span<const Verb> Verbs() {
  static const std::array verbs{kRun,    kSubmit, kValidate, kList,   kShow,   kWatch,   kCompare,
                                kReplay, kRungs,  kStop,     kBest,   kTrials, kMetrics, kWhy,
                                kLogs,   kLocal,  kWorkers,  kReport, kPause,  kResume,  kRetry,
                                kDelete, kExport, kDrain,    kDb};
  return verbs;
}

}  // namespace rung::cli
