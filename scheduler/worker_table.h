#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/resources.h"
#include "scheduler/event.h"
#include "scheduler/placement.h"
#include "storage/rows.h"

/// The training machines: who is connected, and how much of each is held.
namespace rung {

struct WorkerRecord {
  WorkerRow row;
  std::string incarnation;           ///< empty after a restart of the scheduler: not known
  std::optional<SessionId> session;  ///< absent while it is not connected
  Resources held;                    ///< by attempts that are not final
  WallTime last_written;             ///< `row` as the database has it
  bool may_return = false;           ///< gone, but its lease runs: the daemon may be restarted

  Resources total() const;
  /// Its lease runs: what it has is not lost, and it may come back.
  bool alive() const {
    return row.state == "connected" || row.state == "disconnected" || may_return;
  }
};

class WorkerTable {
 public:
  WorkerRecord* Find(const std::string& name);
  const WorkerRecord* Find(const std::string& name) const;
  WorkerRecord* FindSession(SessionId session);
  /// The record of that name, made if there is none.
  WorkerRecord& Ensure(const std::string& name);

  void Connect(WorkerRecord& worker, SessionId session);
  void Disconnect(WorkerRecord& worker);

  void Hold(const std::string& name, const Resources& amount);
  void Release(const std::string& name, const Resources& amount);

  /// What connected workers have free, by name.
  std::vector<WorkerOffer> Offer() const;
  const std::map<std::string, WorkerRecord>& all() const { return workers_; }

 private:
  std::map<std::string, WorkerRecord> workers_;
  std::map<SessionId, std::string> sessions_;
};

}  // namespace rung
