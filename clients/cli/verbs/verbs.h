#pragma once

#include "clients/cli/verb.h"

/// The verbs, each in the file of its name.
namespace rung::cli {

extern const Verb kBest;
extern const Verb kCompare;
extern const Verb kList;
extern const Verb kLocal;
extern const Verb kLogs;
extern const Verb kMetrics;
extern const Verb kReplay;
extern const Verb kReport;
extern const Verb kRun;
extern const Verb kRungs;
extern const Verb kShow;
extern const Verb kStop;
extern const Verb kSubmit;
extern const Verb kTrials;
extern const Verb kValidate;
extern const Verb kWatch;
extern const Verb kWhy;
extern const Verb kWorkers;

// later.cc: named in the interface, not built yet.
extern const Verb kDb;
extern const Verb kDelete;
extern const Verb kDrain;
extern const Verb kExport;
extern const Verb kPause;
extern const Verb kResume;
extern const Verb kRetry;

}  // namespace rung::cli
