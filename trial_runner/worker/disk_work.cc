#include "trial_runner/worker/disk_work.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace rung::worker {
namespace {

constexpr std::chrono::seconds kEndWait{2};

}  // namespace

struct DiskWork::Shared {
  struct Piece {
    std::string lane;
    Work work;
  };

  /// The first piece whose lane is free.
  std::deque<Piece>::iterator Next() {
    return std::ranges::find_if(waiting,
                                [this](const Piece& piece) { return !busy.contains(piece.lane); });
  }

  std::mutex mutex;  // guards all below
  std::condition_variable changed;
  boost::asio::io_context* io = nullptr;  ///< null: the end
  std::deque<Piece> waiting;
  std::set<std::string> busy;  ///< lanes
  size_t threads = 0;
};

DiskWork::DiskWork(boost::asio::io_context& io) : shared_(std::make_shared<Shared>()) {
  shared_->io = &io;
  shared_->threads = kThreads;
  for (size_t i = 0; i < kThreads; ++i) {
    std::thread([shared = shared_] { Serve(shared); }).detach();  // one that hangs is never joined
  }
}

DiskWork::~DiskWork() {
  std::unique_lock lock(shared_->mutex);
  shared_->io = nullptr;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, kEndWait, [this] { return shared_->threads == 0; });
}

bool DiskWork::Run(const std::string& lane, Work work) {
  {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->waiting.size() >= kWaitingMax) return false;
    shared_->waiting.push_back({.lane = lane, .work = std::move(work)});
  }
  shared_->changed.notify_all();
  return true;
}

void DiskWork::Serve(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(
        lock, [&] { return shared->io == nullptr || shared->Next() != shared->waiting.end(); });
    if (shared->io == nullptr) break;
    const auto next = shared->Next();
    const Shared::Piece piece = std::move(*next);
    shared->waiting.erase(next);
    shared->busy.insert(piece.lane);
    lock.unlock();
    Then then = piece.work();
    lock.lock();
    shared->busy.erase(piece.lane);
    if (shared->io != nullptr) boost::asio::post(*shared->io, std::move(then));
    shared->changed.notify_all();
  }
  --shared->threads;
  shared->changed.notify_all();
}

}  // namespace rung::worker
