#include "scheduler/worker_table.h"

#include "core/check.h"

namespace rung {
namespace {

Resources Sum(const Resources& a, const Resources& b, int sign) {
  return {.milli_cpus = a.milli_cpus + sign * b.milli_cpus,
          .memory_bytes = a.memory_bytes + sign * b.memory_bytes,
          .gpus = a.gpus + sign * b.gpus};
}

}  // namespace

Resources WorkerRecord::total() const {
  return {.milli_cpus = row.milli_cpus, .memory_bytes = row.memory_bytes, .gpus = row.gpus};
}

WorkerRecord* WorkerTable::Find(const std::string& name) {
  const auto it = workers_.find(name);
  return it == workers_.end() ? nullptr : &it->second;
}

const WorkerRecord* WorkerTable::Find(const std::string& name) const {
  const auto it = workers_.find(name);
  return it == workers_.end() ? nullptr : &it->second;
}

WorkerRecord* WorkerTable::FindSession(SessionId session) {
  const auto it = sessions_.find(session);
  return it == sessions_.end() ? nullptr : Find(it->second);
}

WorkerRecord& WorkerTable::Ensure(const std::string& name) {
  WorkerRecord& worker = workers_[name];
  worker.row.name = name;
  return worker;
}

void WorkerTable::Connect(WorkerRecord& worker, SessionId session) {
  Disconnect(worker);
  worker.session = session;
  sessions_[session] = worker.row.name;
}

void WorkerTable::Disconnect(WorkerRecord& worker) {
  if (worker.session) sessions_.erase(*worker.session);
  worker.session.reset();
}

void WorkerTable::Hold(const std::string& name, const Resources& amount) {
  WorkerRecord& worker = Ensure(name);
  worker.held = Sum(worker.held, amount, 1);
}

void WorkerTable::Release(const std::string& name, const Resources& amount) {
  WorkerRecord* worker = Find(name);
  RUNG_CHECK(worker != nullptr);
  worker->held = Sum(worker->held, amount, -1);
  RUNG_CHECK(worker->held.milli_cpus >= 0 && worker->held.memory_bytes >= 0 &&
             worker->held.gpus >= 0);
}

std::vector<WorkerOffer> WorkerTable::Offer() const {
  std::vector<WorkerOffer> offer;
  for (const auto& [name, worker] : workers_) {
    if (!worker.session) continue;
    offer.push_back({name, worker.total(), Sum(worker.total(), worker.held, -1)});
  }
  return offer;
}

}  // namespace rung
