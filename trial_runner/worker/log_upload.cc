#include "trial_runner/worker/log_upload.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <utility>

#include "trial_runner/worker/scheduler_session.h"

namespace rung::worker {
namespace {

constexpr size_t kChunkBytes = 64 * 1'024;
constexpr std::chrono::milliseconds kFollowInterval{200};

}  // namespace

struct LogUploads::Upload {
  uint64_t fetch_id = 0;
  std::string attempt;
  LogSource source;
  std::string error;  ///< not empty: sent instead of data
  grpc::ClientContext context;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  bool canceled = false;     // guarded by mutex
  bool files_final = false;  // guarded by mutex
  std::atomic<bool> finished = false;
};

LogUploads::LogUploads(std::shared_ptr<grpc::Channel> channel, TokenFile token)
    : stub_(v1::Workers::NewStub(std::move(channel))), token_(std::move(token)) {}

LogUploads::~LogUploads() {
  for (const auto& [id, upload] : uploads_) Cancel(id);
  for (const auto& [id, upload] : uploads_) upload->thread.join();
}

void LogUploads::Start(uint64_t fetch_id, const std::string& attempt, LogSource source) {
  JoinFinished();
  if (uploads_.contains(fetch_id)) return;
  auto upload = std::make_unique<Upload>();
  upload->fetch_id = fetch_id;
  upload->attempt = attempt;
  upload->files_final = !source.follow;
  std::error_code error;
  if (!source.running && !std::filesystem::exists(source.files.front(), error)) {
    upload->error = fmt::format("this worker has no log '{}'", source.files.front().string());
  }
  if (uploads_.size() >= kUploadsMax) {
    // One more thread at most: it only says no.
    if (uploads_.size() > kUploadsMax) return;
    upload->error = fmt::format("this worker already sends {} logs; try again later", kUploadsMax);
  }
  upload->source = std::move(source);
  Upload& started = *upload;
  uploads_.emplace(fetch_id, std::move(upload));
  started.thread = std::thread([this, &started] { Run(started); });
}

void LogUploads::Cancel(uint64_t fetch_id) {
  const auto it = uploads_.find(fetch_id);
  if (it == uploads_.end()) return;
  {
    const std::lock_guard lock(it->second->mutex);
    it->second->canceled = true;
  }
  it->second->context.TryCancel();
  it->second->changed.notify_all();
}

void LogUploads::EndOfAttempt(const std::string& attempt) {
  for (const auto& [id, upload] : uploads_) {
    if (upload->attempt != attempt) continue;
    {
      const std::lock_guard lock(upload->mutex);
      upload->files_final = true;
    }
    upload->changed.notify_all();
  }
}

void LogUploads::Run(Upload& upload) {
  AddToken(token_.Secret(), upload.context);
  v1::UploadLogResponse response;
  const auto stream = stub_->UploadLog(&upload.context, &response);
  v1::UploadLogRequest request;
  request.set_fetch_id(upload.fetch_id);
  request.set_error(upload.error);
  bool open = stream->Write(request);  // the first message says at once which fetch this is
  std::vector<std::ifstream> files(upload.source.files.size());
  std::string chunk(kChunkBytes, '\0');
  bool last_round = false;
  while (open && upload.error.empty() && !last_round) {
    {
      std::unique_lock lock(upload.mutex);
      if (upload.canceled) break;
      last_round = upload.files_final;  // read before the files: nothing grows after it
    }
    for (size_t i = 0; i < files.size(); ++i) {
      std::ifstream& file = files[i];
      if (!file.is_open()) file.open(upload.source.files[i], std::ios::binary);
      while (open) {
        file.clear();
        file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
        const auto size = static_cast<size_t>(file.gcount());
        if (size == 0) break;
        request.set_data(chunk.data(), size);
        open = stream->Write(request);
      }
    }
    std::unique_lock lock(upload.mutex);
    if (!last_round) {
      upload.changed.wait_for(lock, kFollowInterval,
                              [&] { return upload.canceled || upload.files_final; });
    }
  }
  stream->WritesDone();
  stream->Finish();  // a reader that left is no news
  upload.finished = true;
}

void LogUploads::JoinFinished() {
  std::erase_if(uploads_, [](const auto& item) {
    if (!item.second->finished) return false;
    item.second->thread.join();
    return true;
  });
}

}  // namespace rung::worker
