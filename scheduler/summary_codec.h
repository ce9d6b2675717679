#pragma once

#include "rung/v1/types.pb.h"
#include "storage/database_reader.h"

/// Core → wire: what reads of the database give.
namespace rung {

v1::Experiment ToProto(const ExperimentSummary& summary);
v1::Trial ToProto(const TrialSummary& summary);
v1::Trial ToProto(const TrialDetail& detail);
v1::Worker ToProto(const WorkerSummary& summary);

}  // namespace rung
