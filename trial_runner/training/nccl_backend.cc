#include "trial_runner/training/nccl_backend.h"

#include <nccl.h>

#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "trial_runner/training/named_tensor.h"

namespace rung::training {
namespace {

/// ProcessGroupNCCL::Options holds ncclConfig_t by value: with another version's header it would be
/// corrupted silently, so a difference ends the program here.
void CheckNcclVersion() {
  int runtime = 0;
  if (ncclGetVersion(&runtime) != ncclSuccess || runtime != NCCL_VERSION_CODE) {
    throw TrainingError("built with NCCL " + std::to_string(NCCL_VERSION_CODE) + ", loaded NCCL " +
                        std::to_string(runtime) +
                        ": run with the library of torch's wheel (is LD_LIBRARY_PATH set?)");
  }
}

c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(const c10::intrusive_ptr<c10d::Store>& store,
                                                  int rank, int world_size, c10::Device device,
                                                  std::chrono::milliseconds timeout) {
  CheckNcclVersion();
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  auto backend = c10::make_intrusive<c10d::ProcessGroupNCCL>(store, rank, world_size, options);
  backend->setBoundDeviceId(device);
  backend->eagerConnectSingleDevice(device);
  return backend;
}

[[maybe_unused]] const bool kLinked = [] {
  LinkedNcclBackend() = MakeNcclBackend;
  return true;
}();

}  // namespace
}  // namespace rung::training
