#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace rung::training {

/// Makes the NCCL backend of one rank, its communicator set up on `device`, which is current
/// already.
using NcclBackendFactory = c10::intrusive_ptr<c10d::Backend> (*)(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int world_size, c10::Device device,
    std::chrono::milliseconds timeout);

/// The factory, null in a program that was not linked with rung_training_gpu. nccl_backend.cc sets
/// it before main(): only that file needs CUDA, so CPU programs need not load 400 MB of it.
NcclBackendFactory& LinkedNcclBackend();

}  // namespace rung::training
